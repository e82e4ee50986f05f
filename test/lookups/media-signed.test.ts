import { randomBytes, randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { samplesOf, silentFrames, sine, wavOf } from '../platform/audio/wav.ts';
import { MediaService } from '../../src/features/lookups/media/media.service.ts';
import { Uploads } from '../../src/features/lookups/media/uploads.service.ts';
import { AudioConverter } from '../../src/platform/audio/index.ts';
import type { Storage } from '../../src/platform/storage/index.ts';
import { until } from '../_util/index.ts';
import { MediaClient, MIB, MP3, WAV } from './media.client.ts';
import type { MediaAnswer } from './media.client.ts';
import { LookupsWorld } from './world.ts';

describe('a signed upload', () => {
  let world: LookupsWorld;
  let client: MediaClient;
  beforeAll(async () => {
    world = await LookupsWorld.start();
    client = new MediaClient(world);
  });
  afterAll(() => world.close());

  it('takes the bytes without a key, once, and plays them back at 8 kHz', async () => {
    const as = await world.account();
    const made = await client.create(as);
    expect(made).toMatchObject({
      name: 'Greeting',
      status: 'pending',
      media_exists: false,
      audio_url: null,
    });
    expect([made.upload.mp3.content_type, made.upload.wav.content_type]).toEqual(['audio/mpeg', 'audio/wav']);
    const stored = await client.put(made.upload.wav.url, WAV);
    expect(stored.status).toBe(200);
    expect(stored.data).toEqual({ media_id: made.media_id, size_bytes: 16_044, duration_ms: 1_000 });
    expect((await client.complete(as, made.media_id)).body).toMatchObject({
      data: { media_id: made.media_id, media_exists: true },
    });
    const { data } = await client.get(as, made.media_id);
    expect(data).toMatchObject({
      status: 'ready',
      media_exists: true,
      content_type: 'audio/wav',
      duration_ms: 1_000,
    });
    const played = await world.api.request('GET', client.path((data as MediaAnswer).audio_url!));
    expect(played.status).toBe(200);
    expect(played.headers.get('content-type')).toBe('audio/wav');
    expect(samplesOf(played.bytes).length).toBe(8_000);
  });

  it('takes MP3 at its own address', async () => {
    const as = await world.account();
    const made = await client.create(as);
    expect((await client.put(made.upload.mp3.url, MP3, 'audio/mpeg')).status).toBe(200);
    expect((await client.complete(as, made.media_id)).status).toBe(200);
    expect(((await client.get(as, made.media_id)).data as MediaAnswer).duration_ms).toBe(1_000);
  });

  it('is not complete without bytes, and stays complete when told twice', async () => {
    const as = await world.account();
    const made = await client.create(as);
    expect((await client.complete(as, made.media_id)).status).toBe(409);
    await client.put(made.upload.wav.url, WAV);
    expect((await client.complete(as, made.media_id)).status).toBe(200);
    expect((await client.complete(as, made.media_id)).status).toBe(200);
    expect((await client.complete(as, randomUUID())).status).toBe(404);
  });

  it('refuses a token that was used, has expired, is unknown or was changed', async () => {
    const as = await world.account();
    const made = await client.create(as);
    const { wav, mp3 } = made.upload;
    expect((await client.put(wav.url, WAV)).status).toBe(200);
    expect((await client.put(wav.url, WAV)).status).toBe(404);
    expect((await client.put(mp3.url, MP3, 'audio/mpeg')).status).toBe(404);
    const late = await client.create(as);
    world.clock.advance(3_600_001);
    expect((await client.put(late.upload.wav.url, WAV)).status).toBe(404);
    const fresh = await client.create(as);
    const changed = fresh.upload.wav.url.slice(0, -1) + (fresh.upload.wav.url.endsWith('A') ? 'B' : 'A');
    expect((await client.put(changed, WAV)).status).toBe(404);
    expect((await client.put(fresh.upload.wav.url.replace('/wav/', '/ogg/'), WAV)).status).toBe(404);
    const guessed = `${world.api.url}/media/public/uploads/wav/${randomBytes(32).toString('base64url')}`;
    expect((await client.put(guessed, WAV)).status).toBe(404);
    expect((await client.put(fresh.upload.wav.url, WAV)).status).toBe(200);
  });

  it('gives one of two uploads at once the place, also while its bytes are being kept', async () => {
    const as = await world.account();
    const { lookups, files, publicUrl, ...base } = {
      ...world.api.services,
      publicUrl: () => world.api.url,
    };
    let puts = 0;
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    const slow: Storage = {
      get: (key) => files.kept.get(key),
      stat: (key) => files.kept.stat(key),
      delete: (key) => files.kept.delete(key),
      put: async (...args) => {
        puts += 1;
        await opened;
        return files.kept.put(...args);
      },
    };
    const uploads = new Uploads({ ids: base.ids, incoming: files.incoming, converter: new AudioConverter() });
    const media = new MediaService({
      ...{ ...base, publicUrl, storage: slow, uploads, addresses: lookups.audioAddresses },
    });
    const { upload: to, media: made } = await media.create(as.caller, { name: 'A' });
    const token = to.wav.url.split('/').at(-1)!;
    const lengths = [1, 0.5].map((seconds) => wavOf(sine({ rateHz: 8_000, hz: 440, seconds })));
    const both = lengths.map((bytes) => media.receive({ token, format: 'wav' }, [bytes]));
    const settled = Promise.allSettled(both);
    await until(async () => {
      const { rows } = await base.db.query<{ n: bigint }>(
        `select count(*) as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return puts === 2 || (puts === 1 && Number(rows[0]?.n) === 1);
    });
    open();
    const results = await settled;
    expect(results.map((result) => result.status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(results.find((result) => result.status === 'rejected')?.reason).toMatchObject({ status: 404 });
    const won = results.findIndex((result) => result.status === 'fulfilled');
    expect((await files.kept.stat(made.mediaId))?.sizeBytes).toBe(lengths[won]!.length);
  });

  it('wants exactly the Content-Type of the address, and does not use the token up over it', async () => {
    const as = await world.account();
    const { upload: to, media_id } = await client.create(as);
    for (const type of [
      'audio/mpeg',
      'application/json',
      'audio/x-wav',
      'audio/wav; charset=x',
      'text/plain',
    ]) {
      expect((await client.put(to.wav.url, WAV, type)).status, type).toBe(415);
    }
    const bare = await fetch(to.wav.url, { method: 'PUT', body: new Blob([WAV]) });
    expect(bare.status).toBe(415);
    const encoded = await world.api.request('PUT', client.path(to.wav.url), {
      body: WAV,
      headers: { 'content-type': 'audio/wav', 'content-encoding': 'gzip' },
    });
    expect(encoded.status).toBe(415);
    expect((await client.complete(as, media_id)).status).toBe(409);
    expect((await client.put(to.wav.url, WAV)).status).toBe(200);
  });

  it('refuses files that lie, are cut short or are too much, and takes a right one after them', async () => {
    const as = await world.account();
    const { upload: to, media_id } = await client.create(as);
    expect((await client.put(to.wav.url, MP3)).status).toBe(415);
    expect((await client.put(to.mp3.url, WAV, 'audio/mpeg')).status).toBe(415);
    expect((await client.put(to.wav.url, Buffer.from('<html>no audio</html>'))).status).toBe(415);
    expect((await client.put(to.wav.url, Buffer.alloc(0))).status).toBe(415);
    expect((await client.put(to.wav.url, WAV.subarray(0, 30))).status).toBe(415);
    expect((await client.put(to.wav.url, WAV.subarray(0, 44))).status).toBe(422);
    expect((await client.put(to.mp3.url, silentFrames(30_000), 'audio/mpeg')).status).toBe(422);
    expect((await client.get(as, media_id)).data).toMatchObject({ media_exists: false });
    expect((await client.put(to.wav.url, WAV.subarray(0, 5_044))).data).toMatchObject({ duration_ms: 156 });
  });

  it('refuses more than 25 MiB, said or not', async () => {
    const as = await world.account();
    const { upload: to } = await client.create(as);
    const large = wavOf(Buffer.alloc(25 * MIB));
    expect((await client.put(to.wav.url, large)).status).toBe(413);
    expect(await putChunked(to.wav.url, 26)).toBe(413);
    expect(await putChunked(to.wav.url, 0)).toBe(415);
    expect((await client.put(to.wav.url, wavOf(Buffer.alloc(25 * MIB - 44)))).status).toBe(200);
  });

  /** A body of so many MiB whose length is not said beforehand. */
  const putChunked = (url: string, mib: number): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const sent = httpRequest(url, { method: 'PUT', headers: { 'content-type': 'audio/wav' } }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      sent.on('error', reject);
      const chunk = Buffer.alloc(MIB);
      const write = (left: number): void => {
        if (left === 0) sent.end();
        else if (sent.write(chunk)) write(left - 1);
        else sent.once('drain', () => write(left - 1));
      };
      write(mib);
    });
});
