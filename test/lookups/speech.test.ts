import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SpeechError } from '../../src/platform/audio/index.ts';
import type { TestAccount } from '../_util/api.ts';
import { samplesOf } from '../platform/audio/wav.ts';
import { ToneEngine } from '../platform/audio/tone.engine.ts';
import { LookupsWorld } from './world.ts';

const VOICES = new ToneEngine().known;

interface SpeechAnswer {
  audio_url: string;
  expires_at: number;
  tts_characters: number;
}

describe('speech', () => {
  const engine = new ToneEngine();
  let world: LookupsWorld;
  beforeAll(async () => void (world = await LookupsWorld.start({ engine })));
  afterAll(() => world.close());
  beforeEach(() => {
    engine.known = VOICES;
    engine.fault = null;
  });

  const say = (as: TestAccount, body: unknown) =>
    world.api.request('POST', '/voice/public/tts/synthesize', { as, body });
  const spent = async (as: TestAccount): Promise<bigint> =>
    100_000_000n - (await world.api.services.ledger.balance(as.teamId)).balanceMicros;
  const voices = async (as: TestAccount, query = '') =>
    (await world.api.request('GET', `/voice/public/voices${query}`, { as })).data as { voices: object[] };

  it('lists the voices of the engine in pages', async () => {
    const as = await world.account();
    const voice = { voice_id: 'en-us', name: 'Voice en-us', language: 'en-us', status: 'ready' };
    expect((await voices(as)).voices).toHaveLength(3);
    expect(await voices(as, '?limit=1&skip=1')).toEqual({ voices: [voice] });
    engine.known = [];
    expect(await voices(as)).toEqual({ voices: [] });
  });

  it('is made for money, and plays for a day without a key', async () => {
    const as = await world.account();
    const text = 'x'.repeat(101);
    const answer = await say(as, { voice_id: 'en-us', text });
    expect(answer.status).toBe(200);
    const made = answer.data as SpeechAnswer;
    expect(made).toMatchObject({ tts_characters: 101, expires_at: world.clock.nowMs() + 86_400_000 });
    expect(await spent(as)).toBe(3_000n);
    const play = () => world.api.request('GET', made.audio_url.slice(world.api.url.length));
    const played = await play();
    expect(played.headers.get('content-type')).toBe('audio/wav');
    expect(samplesOf(played.bytes).length).toBe(8_080);
    world.clock.advance(86_400_000 - 1);
    expect((await play()).status).toBe(200);
    world.clock.advance(1);
    expect((await play()).status).toBe(404);
  });

  it('is charged by started hundreds of characters, as people count them', async () => {
    const as = await world.account();
    const answer = await say(as, { voice_id: 'de', text: '\u{1f600}'.repeat(100) });
    expect(answer.data).toMatchObject({ tts_characters: 100 });
    expect(await spent(as)).toBe(1_500n);
    expect((await say(as, { voice_id: 'de', text: 'a' })).status).toBe(200);
    expect(await spent(as)).toBe(3_000n);
  });

  it.each([
    ['no text', { voice_id: 'en-us' }, 400],
    ['an empty text', { voice_id: 'en-us', text: '' }, 400],
    ['a blank text', { voice_id: 'en-us', text: '  \n' }, 400],
    ['a text too long', { voice_id: 'en-us', text: 'x'.repeat(1_201) }, 400],
    ['NUL', '{"voice_id":"en-us","text":"a\\u0000b"}', 400],
    ['a voice that is none', { voice_id: 'xx', text: 'Hello' }, 404],
    ['an option as voice', { voice_id: '--help', text: 'Hello' }, 404],
    ['nothing that can be said', { voice_id: 'en-us', text: '...' }, 422],
  ])('refuses %s and charges nothing', async (_what, body, status) => {
    const as = await world.account();
    expect((await say(as, body)).status).toBe(status);
    expect(await spent(as)).toBe(0n);
  });

  it('takes the longest text there may be', async () => {
    const as = await world.account();
    expect((await say(as, { voice_id: 'en-us', text: 'x'.repeat(1_200) })).status).toBe(200);
    expect(await spent(as)).toBe(18_000n);
  });

  it('answers 503 without an engine, with a busy one and with one that fails, and charges nothing', async () => {
    const as = await world.account();
    for (const fault of ['busy', 'too-slow', 'failed', 'missing'] as const) {
      engine.fault = new SpeechError(fault, 'internal words');
      const answer = await say(as, { voice_id: 'en-us', text: 'Hello' });
      expect(answer.status).toBe(503);
      expect(answer.text).not.toContain('internal words');
    }
    engine.known = [];
    const missing = await say(as, { voice_id: 'en-us', text: 'Hello' });
    expect(missing.status).toBe(503);
    expect(missing.body).toMatchObject({ detail: expect.stringContaining('No speech engine') as string });
    expect(await spent(as)).toBe(0n);
  });

  it('needs funds', async () => {
    const as = await world.api.account({ funds: 0 });
    expect((await say(as, { voice_id: 'en-us', text: 'Hello' })).status).toBe(402);
    expect(await spent(as)).toBe(100_000_000n);
  });

  it('is swept when it has expired, its file too', async () => {
    const as = await world.account();
    await world.sweep();
    const files = () =>
      readdirSync(world.folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    world.clock.advance(86_400_000);
    await world.sweep();
    expect(files()).toEqual([]);
    await say(as, { voice_id: 'en-us', text: 'Hello' });
    expect(await world.sweep()).toMatchObject({ 'expired-speech': 0 });
    expect(files()).toHaveLength(1);
    world.clock.advance(86_400_000);
    expect(await world.sweep()).toMatchObject({ 'expired-speech': 1 });
    expect(files()).toEqual([]);
    const { rows } = await world.database.db.query('select 1 from speech_files');
    expect(rows).toEqual([]);
  });
});
