import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../_util/index.ts';
import { beepTone, callWithBeep, frames, join, silence } from './audio.ts';
import { DIALECTS } from './dialects.ts';
import type { Call } from './dialects.ts';
import { AdvancedClock, DRIVERS, socketWorld } from './world.ts';
import type { SocketWorld } from './world.ts';

/** One body over both drivers and both dialects. */
for (const driver of DRIVERS)
  for (const dialect of DIALECTS)
    describe(`a session by ${driver} on the ${dialect.name} route`, () => {
      const clock = new AdvancedClock();
      let world: SocketWorld;
      let account: Awaited<ReturnType<SocketWorld['createAccount']>>;
      beforeAll(async () => {
        world = await socketWorld({ driver, clock });
        account = await world.createAccount();
      });
      afterAll(() => world.close());

      const withCall = async (work: (call: Call) => Promise<void>): Promise<void> => {
        const call = await dialect.open(world, account);
        try {
          await work(call);
          expect(call.client.faults).toEqual([]);
        } finally {
          await call.close();
        }
      };

      it('says ready with what was asked for, at media time 0', () =>
        withCall(async (call) => {
          call.welcome({ call_id: 'call-1', strategy: 'live_check', detection_timeout_sec: 7 });
          const ready = await call.waitFor('ready');
          expect(ready.callId).toBe('call-1');
          expect(ready.data).toEqual({
            timestamp_ms: 0,
            strategy: 'live_check',
            audio_encoding: 'mulaw',
            sample_rate_hz: 8000,
            detection_timeout_sec: 7,
          });
        }));

      it('ends a stop with the standing verdict as final, close, stopped and code 1000', () =>
        withCall(async (call) => {
          call.welcome();
          call.audio(silence(5_000));
          call.stop();
          expect(await call.client.closed).toEqual({ code: 1000, reason: 'stop' });
          await call.waitFor('stopped');
          const heard = call.heard();
          expect(heard.map((one) => one.event)).toEqual(
            expect.arrayContaining(['ready', 'detection', 'close', 'stopped']),
          );
          expect(heard.slice(-3).map((one) => one.event)).toEqual(['detection', 'close', 'stopped']);
          expect(heard.at(-3)?.data).toMatchObject({ type: 'silence', is_final: true });
          expect(heard.at(-2)?.data).toEqual({ timestamp_ms: 5_000, reason: 'stop', duration_ms: 5_000 });
          expect(new Set(heard.map((one) => one.sessionId)).size).toBe(1);
        }));

      it('says only close and stopped at a stop with no verdict', () =>
        withCall(async (call) => {
          call.welcome();
          await call.waitFor('ready');
          call.stop();
          await call.client.closed;
          await call.waitFor('stopped');
          expect(call.heard().map((one) => one.event)).toEqual(['ready', 'close', 'stopped']);
        }));

      it('hears the end of a beep at its media time', () =>
        withCall(async (call) => {
          call.welcome({ strategy: 'beep_only' });
          for (const frame of frames(callWithBeep())) call.audio(frame);
          const beep = await call.waitFor('beep');
          expect(Math.abs(Number(beep.data['timestamp_ms']) - 1_400)).toBeLessThan(60);
          expect(Math.abs(Number(beep.data['frequency_hz']) - 1_000)).toBeLessThan(10);
          expect(beep.data['is_final']).toBe(true);
        }));

      it('hears the same however the audio is cut', async () => {
        const cuts = [1_000, 160, 33];
        const heard: unknown[] = [];
        for (const frameBytes of cuts)
          await withCall(async (call) => {
            call.welcome();
            for (const frame of frames(join(callWithBeep(), silence(3_000)), frameBytes)) call.audio(frame);
            call.stop();
            await call.client.closed;
            await call.waitFor('stopped');
            heard.push(call.heard().map((one) => [one.event, one.data['timestamp_ms']]));
          });
        expect(heard[1]).toEqual(heard[0]);
        expect(heard[2]).toEqual(heard[0]);
      });

      it('says timeout at the deadline with no verdict standing, on a wire that never carried audio too', () =>
        withCall(async (call) => {
          call.welcome({ detection_timeout_sec: 30 });
          await call.waitFor('ready');
          clock.advance(31_000);
          const timeout = await call.waitFor('timeout');
          expect(timeout.data).toEqual({ timestamp_ms: 0 });
        }));

      it('ends at 300 s of audio', () =>
        withCall(async (call) => {
          call.welcome({ detection_timeout_sec: 300 });
          await call.waitFor('ready');
          const second = silence(1_000);
          for (let sec = 0; sec < 301; sec++) call.audio(second);
          expect(await call.client.closed).toEqual({ code: 1000, reason: 'max_audio' });
          const close = await call.waitFor('close');
          expect(close.data['reason']).toBe('max_audio');
          expect(call.heard().filter((one) => one.data['is_final'] === true).length).toBeGreaterThan(0);
        }));

      it('ends after 600 s of wall when the wire carries next to nothing', () =>
        withCall(async (call) => {
          call.welcome();
          await call.waitFor('ready');
          call.audio(silence(100));
          clock.advance(601_000);
          expect(await call.client.closed).toEqual({ code: 1000, reason: 'max_duration' });
          expect((await call.waitFor('close')).data['reason']).toBe('max_duration');
        }));

      it('names an unknown command and goes on', () =>
        withCall(async (call) => {
          call.welcome();
          await call.waitFor('ready');
          call.client.text('this is not JSON');
          call.client.send({ command: 'dance', event: 'dance' });
          const error = await call.waitFor('error', 2);
          expect(error.data).toMatchObject({ code: 'unknown_command', recoverable: true });
          call.stop();
          await call.waitFor('stopped');
        }));

      it('answers a second welcome within a session with already_started and goes on', () =>
        withCall(async (call) => {
          call.welcome();
          await call.waitFor('ready');
          for (let i = 0; i < 100; i++) call.welcome();
          const error = await call.waitFor('error', 100);
          expect(error.data).toMatchObject({ code: 'already_started', recoverable: true });
          call.stop();
          await call.waitFor('stopped');
          expect(call.heard().filter((one) => one.event === 'ready')).toHaveLength(1);
        }));

      it('names the field of a wrong value and waits for another welcome', () =>
        withCall(async (call) => {
          call.welcome({ strategy: 'psychic', call_id: 'kept' });
          const error = await call.waitFor('error');
          expect(error.data).toMatchObject({
            code: 'invalid_welcome',
            field: 'strategy',
            recoverable: true,
            timestamp_ms: 0,
          });
          expect(error.callId).toBe('kept');
          call.welcome();
          const ready = await call.waitFor('ready');
          expect(ready.sessionId).not.toBe(error.sessionId);
        }));

      it.each([
        ['not JSON', '{"type":'],
        ['another type', '{"type":"hello","event":"hello"}'],
        ['a list', '[]'],
        ['null', 'null'],
      ])('closes with 1003 when the first frame is %s', (_name, text) =>
        withCall(async (call) => {
          const fresh =
            dialect.name === 'general' ? call.client : (await dialect.open(world, account)).client;
          fresh.text(text);
          expect((await fresh.closed).code).toBe(1003);
        }),
      );

      it('closes with 1003 when the first frame is audio', () =>
        withCall(async (call) => {
          call.audio(silence(20));
          expect((await call.client.closed).code).toBe(1003);
        }));

      it('closes with 1009 for a frame over 64 KiB and takes one of 64 KiB', () =>
        withCall(async (call) => {
          call.welcome();
          await call.waitFor('ready');
          call.client.binary(new Uint8Array(64 * 1024));
          call.client.binary(new Uint8Array(64 * 1024 + 1));
          expect((await call.client.closed).code).toBe(1009);
          await until(async () => {
            const { sessionId } = await call.waitFor('ready');
            await world.gateway.journal.flush(1_000);
            return (await world.sessions.get(account.caller, sessionId)).endReason === 'disconnected';
          });
        }));

      it('closes with 1001 when no welcome comes within 60 s', () =>
        withCall(async (call) => {
          await until(() => world.gateway.openSockets > 0);
          clock.advance(61_000);
          expect((await call.client.closed).code).toBe(1001);
        }));

      it('closes with 1008 for a webhook address that may not be called', () =>
        withCall(async (call) => {
          if (dialect.name === 'general') call.welcome({ webhook: { url: 'ftp://example.com/' } });
          else call.welcome({ webhook_url: 'ftp://example.com/' });
          expect((await call.client.closed).code).toBe(1008);
        }));

      it('logs the session with its verdict and bills each started 6 s of audio', () =>
        withCall(async (call) => {
          const payer = await world.createAccount({ funds: '1' });
          const paid = await dialect.open(world, payer);
          paid.welcome({ call_id: 'billed' });
          for (const frame of frames(join(silence(3_000), beepTone(300, 850), silence(3_700)), 8_000))
            paid.audio(frame);
          paid.stop();
          await paid.client.closed;
          expect(await world.gateway.journal.flush(10_000)).toBe(true);
          const [session] = await world.sessions.list(payer.caller);
          expect(session).toMatchObject({
            callId: 'billed',
            source: dialect.name === 'general' ? 'ws' : 'platform',
            state: 'ended',
            endReason: 'stop',
            audioMs: 7_000,
            lastEvent: 'stopped',
          });
          const { events } = await world.sessions.get(payer.caller, session?.sessionId ?? '');
          expect(events.map((event) => event.sequence)).toEqual(events.map((_, i) => i + 1));
          expect(events.map((event) => event.event).slice(-2)).toEqual(['close', 'stopped']);
          expect((await world.ledger.balance(payer.teamId)).balanceMicros).toBe(1_000_000n - 2n * 600n);
          await expect(world.sessions.get(account.caller, session?.sessionId ?? '')).rejects.toThrow(
            'not-found',
          );
          await paid.close();
          await call.close();
        }));
    });
