import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AnswerJudge } from './answers.ts';
import { ContractWorld, nameOf } from './world.ts';

/** Each route has an account of its own, on a machine that does other things too. */
const LONG_MS = 240_000;

let world: ContractWorld;
let judge: AnswerJudge;

beforeAll(async () => {
  world = await ContractWorld.start();
  judge = new AnswerJudge(world.routes);
});
afterAll(async () => world.close());

describe('every route', () => {
  it('has an example of its body when it takes JSON', () => {
    const without = world.routes.filter(
      ({ body, bodyKind, example }) => body && bodyKind !== 'raw' && example?.body === undefined,
    );
    expect(without.map(nameOf)).toEqual([]);
  });

  it(
    'answers its example as the document says',
    async () => {
      const faults: string[] = [];
      for (const spec of world.routes) {
        const account = await world.api.account();
        const answer = await world.send(spec, await world.prepare(spec, account), account);
        const expected = spec.status ?? 200;
        if (answer.status !== expected)
          faults.push(`${nameOf(spec)}: ${answer.status} ${answer.text.slice(0, 300)}`);
        for (const fault of judge.faults(spec, answer)) faults.push(`${nameOf(spec)}: ${fault}`);
      }
      expect(faults).toEqual([]);
    },
    LONG_MS,
  );

  it('is told its request’s id back in an envelope, or goes without one', async () => {
    const account = await world.api.account();
    for (const spec of world.routes.filter((one) => one.method === 'GET' && one.dataType === undefined)) {
      const request = await world.prepare(spec, account);
      const headers = { ...request.headers, 'x-request-id': 'request-7' };
      const answer = await world.send(spec, { ...request, headers }, account);
      expect(answer.headers.get('x-request-id')).toBe('request-7');
      expect(answer.body.meta?.request_id, nameOf(spec)).toBe(
        spec.envelope === false ? undefined : 'request-7',
      );
    }
  });
});
