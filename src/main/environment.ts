import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

/** The environment, with a `.env` file of the working folder under it: what is really set wins. */
export function readEnvironment(folder: string = process.cwd()): NodeJS.ProcessEnv {
  let text: string;
  try {
    text = readFileSync(`${folder}/.env`, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { ...process.env };
    throw error;
  }
  return { ...(parseEnv(text) as Record<string, string>), ...process.env };
}
