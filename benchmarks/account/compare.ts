/** This service and a peer under the same load, in turn, round by round. */
import { cpuSeconds } from '../gateway/processes.ts';
import { Client, middleOf, type Check, type Request } from './load.ts';
import type { Server } from './stage.ts';

export interface Side {
  readonly server: Server;
  readonly next: () => Request;
  readonly check: Check;
}

export interface Pace {
  readonly rounds: number;
  readonly measureMs: number;
  readonly warmUpMs: number;
  readonly concurrency: number;
}

export interface Comparison {
  readonly title: string;
  /** Requests a second of each round. */
  readonly ours: readonly number[];
  readonly peer: readonly number[];
  readonly peerName: string;
  /** Processor time of the server's own process a request, microseconds: middle of the rounds. */
  readonly oursCpuUs: number;
  readonly peerCpuUs: number;
  /** Ours ÷ peer: middle of the rounds' ratios. */
  readonly ratio: number;
}

async function round(side: Side, pace: Pace): Promise<{ perSecond: number; cpuUs: number }> {
  const client = new Client(side.server.url, pace.concurrency);
  const { concurrency, measureMs, warmUpMs } = pace;
  try {
    await client.throughput(side.next, { concurrency, check: side.check, measureMs: warmUpMs });
    const fromSec = cpuSeconds(side.server.pid);
    const { count, perSecond } = await client.throughput(side.next, {
      ...{ concurrency, check: side.check, measureMs },
    });
    return { perSecond, cpuUs: ((cpuSeconds(side.server.pid) - fromSec) * 1e6) / count };
  } finally {
    await client.close();
  }
}

export async function compare(
  title: string,
  sides: { ours: Side; peer: Side },
  pace: Pace,
): Promise<Comparison> {
  const ours: Awaited<ReturnType<typeof round>>[] = [];
  const peer: Awaited<ReturnType<typeof round>>[] = [];
  for (let n = 0; n < pace.rounds; n += 1) {
    ours.push(await round(sides.ours, pace));
    peer.push(await round(sides.peer, pace));
    console.log(
      `${title}, round ${n + 1}: tonegate ${ours[n]?.perSecond.toFixed(0)}/s, ${sides.peer.server.name} ${peer[n]?.perSecond.toFixed(0)}/s`,
    );
  }
  const rates = (found: typeof ours): number[] => found.map(({ perSecond }) => perSecond);
  const cpu = (found: typeof ours): number => middleOf(found.map(({ cpuUs }) => cpuUs));
  return {
    ...{ title, ours: rates(ours), peer: rates(peer), peerName: sides.peer.server.name },
    ...{ oursCpuUs: cpu(ours), peerCpuUs: cpu(peer) },
    ratio: middleOf(ours.map(({ perSecond }, n) => perSecond / (peer[n]?.perSecond ?? NaN))),
  };
}
