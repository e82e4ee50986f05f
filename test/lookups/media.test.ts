import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MediaClient, WAV } from './media.client.ts';
import type { MediaAnswer } from './media.client.ts';
import { LookupsWorld } from './world.ts';

describe('media', () => {
  let world: LookupsWorld;
  let client: MediaClient;
  beforeAll(async () => {
    world = await LookupsWorld.start();
    client = new MediaClient(world);
  });
  afterAll(() => world.close());

  it('is listed newest first in pages and found by name', async () => {
    const as = await world.account();
    for (const name of ['One', 'Two', 'two%']) {
      world.clock.advance(1);
      await world.api.request('POST', '/media/public/media', { as, body: { name, signed_upload: true } });
    }
    const names = async (query: string) =>
      ((await world.api.request('GET', `/media/public/media?${query}`, { as })).data as MediaAnswer[]).map(
        ({ name }) => name,
      );
    expect(await names('')).toEqual(['two%', 'Two', 'One']);
    expect(await names('limit=1&skip=1')).toEqual(['Two']);
    expect(await names('search_term=TWO')).toEqual(['two%', 'Two']);
    expect(await names('search_term=%25')).toEqual(['two%']);
    for (const query of ['limit=0', 'skip=-1', 'limit=NaN', 'search_term=%00']) {
      expect((await world.api.request('GET', `/media/public/media?${query}`, { as })).status, query).toBe(
        400,
      );
    }
  });

  it('is gone when deleted, its file too', async () => {
    const as = await world.account();
    const { media_id, audio_url } = (
      await client.upload(as, [
        ['name', 'A'],
        ['file', [WAV, 'a.wav']],
      ])
    ).data as MediaAnswer;
    expect(client.filesOnDisk()).toContain(media_id);
    const gone = await client.remove(as, media_id);
    expect(gone.data).toEqual({ media_id, deleted: true });
    expect((await client.get(as, media_id)).status).toBe(404);
    await world.work();
    expect(client.filesOnDisk()).not.toContain(media_id);
    expect((await world.api.request('GET', client.path(audio_url!))).status).toBe(404);
    expect((await client.remove(as, media_id)).status).toBe(404);
  });

  it('is not found by another account', async () => {
    const [as, other] = [await world.account(), await world.account()];
    const made = await client.create(other);
    await client.put(made.upload.wav.url, WAV);
    for (const id of [made.media_id, 'x', randomUUID()]) {
      expect((await client.get(as, id)).status).toBe(404);
      expect((await client.complete(as, id)).status).toBe(404);
      expect((await client.remove(as, id)).status).toBe(404);
    }
    expect((await client.get(other, made.media_id)).data).toMatchObject({
      status: 'pending',
      media_exists: true,
    });
  });

  it('plays at its address for an hour, and at no changed one', async () => {
    const as = await world.account();
    const { audio_url } = (
      await client.upload(as, [
        ['name', 'A'],
        ['file', [WAV, 'a.wav']],
      ])
    ).data as MediaAnswer;
    const play = async (url: string) => (await world.api.request('GET', client.path(url))).status;
    expect(await play(audio_url!)).toBe(200);
    const token = audio_url!.split('/').at(-1)!;
    const middle = token.length - 20;
    const flipped = token.slice(0, middle) + (token[middle] === 'A' ? 'B' : 'A') + token.slice(middle + 1);
    expect(await play(audio_url!.replace(token, flipped))).toBe(404);
    for (const made of ['x', 'v1.a.b', `v1.${'0'.repeat(12)}.${'A'.repeat(80)}`, randomUUID()]) {
      expect(await play(`${world.api.url}/media/public/audio/${made}`)).toBe(404);
    }
    const foreign = world.api.services.cipher.encrypt(`9999999999999 ${randomUUID()}`, 'another use');
    expect(await play(`${world.api.url}/media/public/audio/${foreign}`)).toBe(404);
    world.clock.advance(3_600_000);
    expect(await play(audio_url!)).toBe(404);
  });

  it('that nobody completed is swept with its bytes a day after its address ended', async () => {
    const as = await world.account();
    const [empty, half, whole] = [await client.create(as), await client.create(as), await client.create(as)];
    await client.put(half.upload.wav.url, WAV);
    await client.put(whole.upload.wav.url, WAV);
    await client.complete(as, whole.media_id);
    world.clock.advance(3_600_000 + 86_400_000);
    await world.sweep();
    expect((await client.get(as, half.media_id)).status).toBe(200);
    world.clock.advance(1);
    await world.sweep();
    const left = await Promise.all(
      [empty, half, whole].map(async ({ media_id }) => (await client.get(as, media_id)).status),
    );
    expect(left).toEqual([404, 404, 200]);
    expect(client.filesOnDisk()).toContain(whole.media_id);
    expect(client.filesOnDisk()).not.toContain(half.media_id);
  });
});
