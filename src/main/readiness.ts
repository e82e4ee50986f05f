/** The check of one part; a promise that rejects counts as not ready, with its message. */
export type PartCheck = () => Promise<PartState> | PartState;

export interface PartState {
  readonly ok: boolean;
  readonly detail?: string;
  /** The service works without this part, more slowly: it does not turn readiness. */
  readonly isOptional?: boolean;
}

export interface Readiness {
  readonly ready: boolean;
  readonly parts: Record<string, { ok: boolean; detail?: string }>;
}

/** A part that does not answer in this time is not ready. */
const CHECK_LIMIT_MS = 2_000;

/** Whether the service can take work, part by part. Checks run when asked; questions at the same time share one run. */
export class ReadinessBoard {
  readonly #checks = new Map<string, PartCheck>();
  #isDraining = false;
  #running: Promise<Readiness> | undefined;

  add(part: string, check: PartCheck): void {
    this.#checks.set(part, check);
  }

  /** From now on not ready, whatever the parts say. */
  drain(): void {
    this.#isDraining = true;
  }

  async read(): Promise<Readiness> {
    this.#running ??= this.#check().finally(() => (this.#running = undefined));
    const { ready, parts } = await this.#running;
    if (!this.#isDraining) return { ready, parts };
    return { ready: false, parts: { ...parts, process: { ok: false, detail: 'ending' } } };
  }

  async #check(): Promise<Readiness> {
    const states = await Promise.all(
      [...this.#checks].map(async ([part, check]) => [part, await judged(check)] as const),
    );
    const ready = states.every(([, state]) => state.ok || state.isOptional === true);
    const parts = states.map(
      ([part, { ok, detail }]) => [part, { ok, ...(detail ? { detail } : {}) }] as const,
    );
    return { ready, parts: Object.fromEntries(parts) };
  }
}

async function judged(check: PartCheck): Promise<PartState> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<PartState>((resolve) => {
    timer = setTimeout(
      () => resolve({ ok: false, detail: `no answer in ${CHECK_LIMIT_MS} ms` }),
      CHECK_LIMIT_MS,
    );
  });
  try {
    return await Promise.race([Promise.resolve().then(check), limit]);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return { ok: false, detail: message || code || 'failed' };
  } finally {
    clearTimeout(timer);
  }
}
