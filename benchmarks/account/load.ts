/** The client: keep-alive connections, timed requests, and as many as a server answers. */
import { Pool } from 'undici';

export interface Request {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** What a request that is measured must answer; anything else ends the run: a wrong answer is fast. */
export type Check = (answer: Answer) => boolean;

export class Client {
  readonly #pool: Pool;

  constructor(url: string, connections: number) {
    this.#pool = new Pool(url, { connections, pipelining: 1 });
  }

  async send(request: Request): Promise<Answer> {
    const { method, path, headers, body } = request;
    const response = await this.#pool.request({ method, path, headers, body: body ?? null });
    return { status: response.statusCode, body: await response.body.text() };
  }

  async json<T>(request: Request): Promise<T> {
    const answer = await this.send(request);
    if (answer.status >= 300) throw wrong(request, answer);
    return JSON.parse(answer.body) as T;
  }

  /** Milliseconds of each request, one after the other. */
  async times(requests: Iterable<Request>, check: Check): Promise<number[]> {
    const times: number[] = [];
    for (const request of requests) {
      const fromMs = performance.now();
      const answer = await this.send(request);
      times.push(performance.now() - fromMs);
      if (answer.status !== 200 || !check(answer)) throw wrong(request, answer);
    }
    return times;
  }

  /** Requests answered a second, with `concurrency` under way at any time. */
  async throughput(
    next: () => Request,
    of: { concurrency: number; measureMs: number; check: Check },
  ): Promise<{ count: number; perSecond: number }> {
    const fromMs = performance.now();
    const endMs = fromMs + of.measureMs;
    let count = 0;
    const worker = async (): Promise<void> => {
      while (performance.now() < endMs) {
        const request = next();
        const answer = await this.send(request);
        if (answer.status !== 200 || !of.check(answer)) throw wrong(request, answer);
        count += 1;
      }
    };
    await Promise.all(Array.from({ length: of.concurrency }, worker));
    return { count, perSecond: (count * 1_000) / (performance.now() - fromMs) };
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }
}

const wrong = (request: Request, answer: Answer): Error =>
  new Error(`${request.method} ${request.path} answered ${answer.status}: ${answer.body.slice(0, 500)}`);

export const json = (headers: Readonly<Record<string, string>>, body: unknown) => ({
  headers: { ...headers, 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

/** The value below which a share of the values lies (nearest rank). */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? NaN;
}

export const middleOf = (values: readonly number[]): number => quantile(values, 0.5);

/** A deterministic sequence in [0, 1): the same requests in every run (mulberry32). */
export function sequence(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
