import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answers } from '../_util/carriers.ts';
import { presentProof } from '../../src/features/sends/proof.present.ts';
import { proofRoutes } from '../../src/features/sends/proof.routes.ts';
import { ProofService } from '../../src/features/sends/proof.service.ts';
import { DispatchWorld } from './dispatch.world.ts';
import type { SenderAccount } from './dispatch.world.ts';

const DAY_MS = 86_400_000;

let world: DispatchWorld;
let account: SenderAccount;
let proofs: ProofService;

beforeAll(async () => {
  world = await DispatchWorld.start();
  account = await world.account();
  proofs = new ProofService({ db: world.accounts.services.db, clock: world.clock });
});
afterAll(() => world.close());

async function token(): Promise<string> {
  await world.send(account, 'rvm', { to: world.number(), media_id: account.mediaId });
  const told = world.newsOf(account, 'contact.rvm.receipt').at(-1);
  return String(told?.proof_of_delivery_url).split('/').at(-1) ?? '';
}

describe('the proof of a delivery', () => {
  it('is opened by its token for seven days', async () => {
    world.carrier.answering = () => answers.ended();
    const opened = await token();
    expect(await proofs.open(opened)).toMatchObject({ outcomeCode: 0, accountName: 'Example Ltd' });
    world.clock.advance(7 * DAY_MS - 1);
    expect(await proofs.open(opened)).toMatchObject({ outcomeCode: 0 });
    world.clock.advance(1);
    await expect(proofs.open(opened)).rejects.toMatchObject({ status: 404 });
    world.clock.advance(-7 * DAY_MS);
  });

  it('is not found by anything else, and the token is not stored', async () => {
    const opened = await token();
    for (const wrong of ['', 'x', opened.slice(1), `${opened}x`, 'x'.repeat(10_000)]) {
      await expect(proofs.open(wrong)).rejects.toMatchObject({ code: 'not-found' });
    }
    const rows = await world.query<{ row: string }>('select s::text as row from sends s');
    expect(rows.map(({ row }) => row).join()).not.toContain(opened);
  });

  it('is a page that shows what it proves and runs nothing', async () => {
    const proof = await proofs.open(await token());
    const page = presentProof({ ...proof, accountName: '<script>alert("x")</script> & Co' });
    expect(page).toContain('&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp; Co');
    expect(page).not.toContain('<script>');
    expect(page).toContain(proof.phoneNumber);
    expect(page).toContain('Delivered. (0)');
  });

  it('needs no credential', () => {
    const [route] = proofRoutes({ proofs });
    expect(route).toMatchObject({ auth: 'none', scopes: [], path: '/campaign/public/receipts/{token}' });
  });
});
