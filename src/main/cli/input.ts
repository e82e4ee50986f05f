import { InvalidArgumentError } from 'commander';
import { isScope } from '../../kernel/caller.ts';
import type { Scope } from '../../kernel/caller.ts';
import { parseMoney } from '../../kernel/money.ts';
import { Problem } from '../../kernel/problem.ts';
import { UsageError } from './context.ts';

/** Parsers of options; what they refuse ends the command with exit code 2. */

export function parseAmount(text: string): bigint {
  const micros = parseMoney(text);
  if (micros === null) throw new InvalidArgumentError('give an amount such as 25 or 0.50');
  return micros;
}

export function parseWholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('give a whole number');
  return Number(text);
}

export function parseScopes(text: string): Scope[] {
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.filter((name) => !isScope(name));
  if (unknown.length > 0) throw new InvalidArgumentError(`there is no scope '${unknown.join("', '")}'`);
  return [...new Set(names.filter(isScope))];
}

export function parseChoice<T extends string>(choices: readonly T[]): (text: string) => T {
  return (text) => {
    const found = choices.find((choice) => choice === text);
    if (found === undefined) throw new InvalidArgumentError(`give one of ${choices.join(', ')}`);
    return found;
  };
}

/** Runs a use case; values that it finds invalid are wrong usage here. */
export async function withUsage<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Problem && error.code === 'validation-error') throw new UsageError(error.detail);
    throw error;
  }
}

/** Bytes of a secret read from stdin. */
const STDIN_BYTES_MAX = 4_096;

/** The first line of stdin, for secrets that do not belong on a command line. */
export async function readSecret(): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > STDIN_BYTES_MAX || chunk.includes('\n')) break;
  }
  return Buffer.concat(chunks).toString('utf8').split('\n', 1)[0]?.trim() ?? '';
}
