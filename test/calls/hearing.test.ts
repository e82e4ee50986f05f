import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { join as joined, silence } from '../socket/audio.ts';
import { DRIVERS } from '../socket/world.ts';
import type { StreamDouble } from './stream.double.ts';
import { callsWorld, hasRecordings, recording, sample } from './world.ts';
import type { CallsWorld, StoredMessage } from './world.ts';

/** A message begins so soon after the end of the beep, in media time (issue: calls that hear). */
const BEGIN_MS_MAX = 300;

/** The platform is ahead of what it plays by so much at most. */
const BUFFERED_MS_MAX = 1_000;

for (const driver of DRIVERS)
  describe(`a call that hears, by ${driver}`, () => {
    let world: CallsWorld;
    let speech: StoredMessage;
    let beep: StoredMessage;
    beforeAll(async () => {
      world = await callsWorld({ driver });
      speech = await world.store(3_300);
      beep = await world.store(2_450, 'mulaw');
    });
    afterAll(() => world.close());

    const both = () => ({ onSpeech: speech.key, onBeep: beep.key });

    /** One message was heard whole, from its first sample to its last, and the stream was closed behind it. */
    const expectHeard = (double: StreamDouble, message: StoredMessage): number => {
      expect(double.faults).toEqual([]);
      expect(double.heard).toHaveLength(1);
      expect(double.sound.equals(message.audio)).toBe(true);
      expect(double.bufferedMsMax).toBeLessThanOrEqual(BUFFERED_MS_MAX);
      expect(double.closed).toEqual({ code: 1000, reason: 'stop' });
      return double.heard[0]!.atMs;
    };

    it('plays the speech message to a person and closes when its mark is back', async () => {
      const plan = world.plan(both());
      const double = await world.call(plan, { answer: sample('live-hello.wav') });
      const atMs = expectHeard(double, speech);
      expect(double.marks).toHaveLength(1);
      const heard = await world.heard(plan);
      expect(heard).toMatchObject({
        ...{ teamId: world.teamId, attempt: 1, callSid: 'CA00000000000000000000000000000001' },
        ...{ verdict: 'live_person', beepAtMs: null, played: 'speech' },
        ...{ isHeardWhole: true, optOut: false },
      });
      expect(heard.playedAtMs).toBe(atMs);
      expect(heard.durationMs).toBeGreaterThanOrEqual(atMs + 3_300);
    });

    it.each([
      ['voicemail-beep.wav', 6_283],
      ['voicemail-long-greeting.wav', 12_748],
    ])('plays the beep message right after the beep of %s', async (file, beepEndMs) => {
      const plan = world.plan({ ...both(), noVerdict: 'play_speech' });
      const double = await world.call(plan, { answer: sample(file) });
      const atMs = expectHeard(double, beep);
      expect(atMs).toBeGreaterThan(beepEndMs - 20);
      expect(atMs).toBeLessThanOrEqual(beepEndMs + BEGIN_MS_MAX);
      const heard = await world.heard(plan);
      expect(heard).toMatchObject({ verdict: 'voicemail', played: 'beep', isHeardWhole: true });
      expect(Math.abs(heard.beepAtMs! - beepEndMs)).toBeLessThanOrEqual(40);
    });

    it('keeps to the time of the wire when frames are lost on it', async () => {
      const plan = world.plan({ ...both() });
      // One in fifty: the share at which telephony begins to be heard as bad.
      const isLost = (chunk: number): boolean => chunk % 50 === 25;
      const double = await world.call(plan, { answer: sample('voicemail-beep.wav'), isLost });
      const atMs = expectHeard(double, beep);
      expect(atMs).toBeLessThanOrEqual(6_283 + BEGIN_MS_MAX);
      const heard = await world.heard(plan);
      expect(Math.abs(heard.beepAtMs! - 6_283)).toBeLessThanOrEqual(40);
      expect(heard.playedAtMs).toBe(atMs);
    });

    it.each([
      ['play_speech', () => speech],
      ['play_beep', () => beep],
    ] as const)('does what the plan says when nobody speaks: %s', async (noVerdict, message) => {
      const plan = world.plan({ ...both(), noVerdict });
      const double = await world.call(plan, { answer: silence(8_000) });
      expectHeard(double, message());
      expect(await world.heard(plan)).toMatchObject({ verdict: 'silence', isHeardWhole: true });
    });

    it('hangs up on silence when the plan says so', async () => {
      const plan = world.plan({ ...both(), noVerdict: 'hang_up' });
      const double = await world.call(plan, { answer: silence(8_000) });
      expect(double.sound).toHaveLength(0);
      expect(double.closed?.code).toBe(1000);
      expect(double.mediaMs).toBeLessThan(6_000);
      expect(await world.heard(plan)).toMatchObject({ verdict: 'silence', played: null, playedAtMs: null });
    });

    it('lets it ring first', async () => {
      const plan = world.plan({ ...both(), noVerdict: 'play_beep' });
      const double = await world.call(plan, { answer: sample('ringback-then-hello.wav') });
      // The person speaks from 3,400 ms on.
      expect(expectHeard(double, speech)).toBeGreaterThan(3_400);
      expect(await world.heard(plan)).toMatchObject({ verdict: 'live_person', played: 'speech' });
    });

    it('plays nothing to an announcement of the carrier', async () => {
      const plan = world.plan({ ...both(), noVerdict: 'play_speech' });
      const double = await world.call(plan, { answer: sample('carrier-not-in-service.wav') });
      expect(double.sound).toHaveLength(0);
      expect(double.closed?.code).toBe(1000);
      expect(await world.heard(plan)).toMatchObject({ verdict: 'unknown', played: null });
    });

    it.each([
      ['a person without a speech message', 'live-hello.wav', () => ({ onBeep: beep.key })],
      ['a beep without a beep message', 'voicemail-beep.wav', () => ({ onSpeech: speech.key })],
    ])('plays nothing and ends at %s', async (_what, file, messages) => {
      const plan = world.plan({ ...messages(), noVerdict: 'play_speech' });
      const double = await world.call(plan, { answer: sample(file) });
      expect(double.sound).toHaveLength(0);
      expect(double.closed?.code).toBe(1000);
      expect(await world.heard(plan)).toMatchObject({ played: null, isHeardWhole: false });
    });

    it('takes a message back when a beep follows, and begins the beep message behind it', async () => {
      const long = await world.store(20_000);
      const plan = world.plan({ onSpeech: long.key, onBeep: beep.key, noVerdict: 'play_speech' });
      // Nobody for five seconds, so the speech message begins; then a mailbox speaks and beeps.
      const answer = joined(silence(5_000), sample('voicemail-beep.wav'));
      const double = await world.call(plan, { answer });
      expect(double.faults).toEqual([]);
      const [first, second] = double.heard;
      expect(double.clearsMs).toHaveLength(1);
      expect(first!.audio.equals(long.audio.subarray(0, first!.audio.length))).toBe(true);
      expect(first!.audio.length).toBeLessThan(long.audio.length);
      expect(second!.audio.equals(beep.audio)).toBe(true);
      expect(second!.atMs).toBeLessThanOrEqual(11_283 + BEGIN_MS_MAX);
      expect(await world.heard(plan)).toMatchObject({
        played: 'beep',
        isHeardWhole: true,
        verdict: 'voicemail',
      });
    });

    it('does not take the mark of a message that was taken back for that of the next', async () => {
      // All of it is sent when the beep comes, its last second is not played yet; the next one is sent at once.
      const nearlyHeard = await world.store(7_900);
      const short = await world.store(800);
      const plan = world.plan({ onSpeech: nearlyHeard.key, onBeep: short.key, noVerdict: 'play_speech' });
      const answer = joined(silence(5_000), sample('voicemail-beep.wav'));
      const double = await world.call(plan, { answer });
      expect(double.marks.map(({ name }) => name)).toEqual(['speech-1', 'beep-2']);
      expect(double.heard[1]!.audio.equals(short.audio)).toBe(true);
      expect(await world.heard(plan)).toMatchObject({ played: 'beep', isHeardWhole: true });
    });

    it('begins the beep message again when it was begun before the beep, once', async () => {
      const long = await world.store(20_000);
      const plan = world.plan({ onBeep: long.key, noVerdict: 'play_beep' });
      const greeting = sample('voicemail-beep.wav');
      // A second beep, of the mailbox that has recorded enough, changes nothing.
      const answer = joined(silence(5_000), greeting, silence(2_000), greeting);
      const double = await world.call(plan, { answer });
      expect(double.clearsMs).toHaveLength(1);
      expect(double.heard).toHaveLength(2);
      expect(double.heard[1]!.audio.equals(long.audio)).toBe(true);
      expect(await world.heard(plan)).toMatchObject({ played: 'beep', isHeardWhole: true });
    });

    it('ends with clear when the opt-out digit is pressed during the message', async () => {
      const long = await world.store(20_000);
      const plan = world.plan({ onSpeech: long.key, optOutDigit: '9' });
      const digits = [
        // Before the message, and another digit: nothing.
        { atMs: 200, digit: '9' },
        { atMs: 8_000, digit: '1' },
        { atMs: 10_000, digit: '9' },
      ];
      const double = await world.call(plan, { answer: sample('live-hello.wav'), digits });
      expect(double.clearsMs).toEqual([10_000]);
      expect(double.closed?.code).toBe(1000);
      expect(double.mediaMs).toBeLessThanOrEqual(10_040);
      const heard = await world.heard(plan);
      expect(heard).toMatchObject({ played: 'speech', optOut: true, isHeardWhole: false });
    });

    it('tells how far it came when the line is cut, or hung up', async () => {
      for (const end of [{ cutAtMs: 5_000 }, { hangUpAtMs: 5_000 }]) {
        const plan = world.plan({ onSpeech: speech.key });
        await world.call(plan, { answer: sample('live-hello.wav'), ...end });
        const heard = await world.heard(plan);
        expect(heard).toMatchObject({ played: 'speech', isHeardWhole: false, optOut: false });
        expect(heard.durationMs).toBeGreaterThanOrEqual(4_900);
      }
    });

    it('begins nothing for what is said at the end of a call', async () => {
      const plan = world.plan({ ...both(), noVerdict: 'play_speech' });
      // Cut within the answer: the verdict that stood is said once more when the session ends.
      await world.call(plan, { answer: sample('voicemail-beep.wav'), cutAtMs: 4_000 });
      expect(await world.heard(plan)).toMatchObject({ verdict: 'voicemail', played: null, playedAtMs: null });
    });

    it('plays a message to its end though the session has heard its 300 s', async () => {
      const long = await world.store(310_000);
      const plan = world.plan({ onSpeech: long.key });
      const answer = sample('live-hello.wav');
      const double = await world.call(plan, { answer, hangUpAtMs: 400_000, frameMs: 200 });
      expect(double.sound.equals(long.audio)).toBe(true);
      const heard = await world.heard(plan);
      expect(heard.isHeardWhole).toBe(true);
      expect(heard.durationMs).toBeGreaterThan(310_000);
    });

    it('ends when the mark does not come back', async () => {
      const plan = world.plan({ onSpeech: speech.key });
      const double = await world.call(plan, { answer: sample('live-hello.wav'), isMarkless: true });
      expect(double.sound.equals(speech.audio)).toBe(true);
      expect(double.closed?.code).toBe(1000);
      expect(await world.heard(plan)).toMatchObject({ played: 'speech', isHeardWhole: false });
    });

    it('is told once, to sends, and has a session with its events that costs nothing', async () => {
      const plan = world.plan(both());
      await world.call(plan, { answer: sample('live-hello.wav') });
      const heard = await world.heard(plan);
      expect((await world.told(plan.sendId)).map(({ lane }) => lane)).toEqual([
        `send.heard|${world.teamId}:heard`,
      ]);
      const { rows } = await world.db.query<Record<string, unknown>>(
        `select s.source, s.state, s.verdict, s.call_id, s.key_id::text, count(e.*)::int as events
         from detection_sessions s join detection_events e on e.session_id = s.id
         where s.id = $1 and s.team_id = $2 group by s.id`,
        [heard.sessionId, world.teamId],
      );
      expect(rows).toEqual([
        expect.objectContaining({ source: 'platform', state: 'ended', verdict: 'live_person' }),
      ]);
      expect(rows[0]!['events']).toBeGreaterThanOrEqual(3);
      const charged = await world.db.query(
        "select 1 from ledger_entries where team_id = $1 and cause_type = 'detection_session'",
        [world.teamId],
      );
      expect(charged.rows).toEqual([]);
      expect(world.gateway.admission.sessions).toBe(0);
    });
  });

describe.skipIf(!hasRecordings)('a call that hears, answered by recordings', () => {
  let world: CallsWorld;
  let speech: StoredMessage;
  let beep: StoredMessage;
  beforeAll(async () => {
    world = await callsWorld({ driver: DRIVERS[0] ?? 'ws' });
    speech = await world.store(3_300);
    beep = await world.store(2_450);
  });
  afterAll(() => world.close());

  it('begins within 300 ms of the beep of a real mailbox, and not again at its later beeps', async () => {
    const plan = world.plan({ onSpeech: speech.key, onBeep: beep.key, noVerdict: 'hang_up' });
    const answer = recording('vm_voiceblender/20260401_122737_8ed1a36a.wav');
    const double = await world.call(plan, { answer });
    // The label: 880 Hz from 12.45 to 13.05 s.
    expect(double.heard).toHaveLength(1);
    expect(double.heard[0]!.atMs).toBeGreaterThan(13_000);
    expect(double.heard[0]!.atMs).toBeLessThanOrEqual(13_050 + BEGIN_MS_MAX);
    expect(double.sound.equals(beep.audio)).toBe(true);
    expect(await world.heard(plan)).toMatchObject({ verdict: 'voicemail', isHeardWhole: true });
  });

  it.each(['en_US_f_Allison', 'es_MX_f_Allison', 'fr_CA_f_June', 'it_IT_m_Carlo'])(
    'begins within 300 ms of the beep after the greeting of %s',
    async (voice) => {
      const parts = [
        silence(600),
        recording(`vm_asterisk/${voice}_vm-intro.wav`),
        silence(400),
        recording(`beep_asterisk/${voice}_beep.wav`),
      ];
      // The label of the beeps: 0.02 to 0.41 s.
      const beepEndMs = joined(...parts.slice(0, 3)).length / 8 + 410;
      const plan = world.plan({ onSpeech: speech.key, onBeep: beep.key });
      const double = await world.call(plan, { answer: joined(...parts) });
      const atMs = double.heard.at(-1)!.atMs;
      expect(atMs).toBeLessThanOrEqual(beepEndMs + BEGIN_MS_MAX);
      expect(atMs).toBeGreaterThan(beepEndMs - 20);
      expect(double.heard.at(-1)!.audio.equals(beep.audio)).toBe(true);
      expect(await world.heard(plan)).toMatchObject({ verdict: 'voicemail', played: 'beep' });
    },
  );

  it.each(['en_US_f_Allison_hello.wav', 'fr_CA_f_June_hello.wav', 'it_IT_m_Carlo_hello.wav'])(
    'plays the speech message to the person of %s',
    async (file) => {
      const plan = world.plan({ onSpeech: speech.key, onBeep: beep.key });
      const answer = joined(silence(500), recording(`live_asterisk/${file}`));
      const double = await world.call(plan, { answer });
      expect(double.sound.equals(speech.audio)).toBe(true);
      expect(await world.heard(plan)).toMatchObject({ verdict: 'live_person', played: 'speech' });
    },
  );
});
