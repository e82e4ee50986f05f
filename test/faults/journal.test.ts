/** A gateway killed at the two named points of its journal, with calls that fill it. */
import { describe, expect, it } from 'vitest';
import { until } from '../_util/index.ts';
import { completeCall, sample } from './_util/call.ts';
import type { Call, CallOptions } from './_util/call.ts';
import { Lab } from './_util/lab.ts';
import { CELL_LIMIT_MS, picker, scaled } from './_util/scale.ts';

const VOICEMAIL = sample('voicemail-beep.wav');
const DELIVERIES = scaled(200, 2_000);
const CALLS_AT_ONCE = 20;
/** Faster than real time: the same events, sooner (supplement 10, Time). */
const SPEED = 8;

/** A call to its end, or to the end of its gateway. */
async function callThrough(options: CallOptions): Promise<Call | null> {
  try {
    return await completeCall(options, VOICEMAIL, SPEED);
  } catch {
    // Cut by the kill, or dialled while no gateway listened: what counts is what was committed.
    return null;
  }
}

describe.concurrent('a gateway killed with -9', () => {
  for (const point of ['before insert', 'after commit'] as const) {
    it(
      `${point} of its journal loses no delivery that was committed`,
      { timeout: CELL_LIMIT_MS },
      async () => {
        const lab = await Lab.open();
        try {
          const receiver = await lab.receiver();
          const crash = lab.crash(point, picker(point)(2, 12));
          const service = await lab.start(crash.env);
          const options = {
            url: service.detectUrl,
            key: lab.credentials.detection_key,
            webhookUrl: receiver.url,
          };
          const [doomed] = await lab.ledger.gatewayPids();
          await until(
            async () => {
              await Promise.all(Array.from({ length: CALLS_AT_ONCE }, () => callThrough(options)));
              return crash.struck && (await lab.ledger.deliveries()).length >= DELIVERIES;
            },
            CELL_LIMIT_MS,
            `${DELIVERIES} deliveries with the gateway killed in between`,
          );
          const call = await until(() => callThrough(options), 60_000, 'a whole call after the kill');
          await until(
            async () =>
              (await lab.ledger.query(`select 1 from detection_sessions where state = 'live'`)).length === 0,
            60_000,
            'no session left as live',
          );
          expect(await lab.ledger.gatewayPids()).not.toContain(doomed);
          expect((await lab.ledger.session(call.sessionId))?.state).toBe('ended');
          await lab.ledger.settled();
          const rows = await lab.ledger.expectNothingLost(receiver);
          expect(rows.filter(({ state }) => state !== 'delivered')).toEqual([]);
          await lab.ledger.expectWholeLogs();
        } finally {
          await lab.close();
        }
      },
    );
  }
});
