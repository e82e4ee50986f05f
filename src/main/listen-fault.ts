/** Says of an address that cannot be listened on which setting names it. Other faults pass as they are. */
export async function naming<T>(setting: string, listening: Promise<T>): Promise<T> {
  try {
    return await listening;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === undefined ? undefined : REASONS[code];
    if (reason === undefined) throw error;
    throw new Error(`${setting}: ${reason} (${message})`, { cause: error });
  }
}

const REASONS: Record<string, string> = {
  EADDRINUSE: 'the port is in use: choose another one, or 0 for any free one',
  EACCES: 'the port may not be used by this account: choose one above 1023',
  EADDRNOTAVAIL: 'HOST is no address of this machine',
  ENOTFOUND: 'HOST cannot be resolved',
};
