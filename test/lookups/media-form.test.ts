import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentFrames } from '../platform/audio/wav.ts';
import { MediaClient, MIB, MP3, WAV } from './media.client.ts';
import type { FormParts, MediaAnswer } from './media.client.ts';
import { LookupsWorld } from './world.ts';

describe('an upload by form', () => {
  let world: LookupsWorld;
  let client: MediaClient;
  beforeAll(async () => {
    world = await LookupsWorld.start();
    client = new MediaClient(world);
  });
  afterAll(() => world.close());

  it('is ready at once, in whatever order its parts come and whatever they call themselves', async () => {
    const as = await world.account();
    const one = await client.upload(as, [
      ['name', 'Hello'],
      ['type', 'greeting'],
      ['file', [WAV, 'hello.wav']],
    ]);
    expect(one.status).toBe(201);
    expect(one.data).toMatchObject({
      name: 'Hello',
      type: 'greeting',
      status: 'ready',
      media_exists: true,
    });
    expect((one.data as MediaAnswer).upload).toBeUndefined();
    const two = await client.upload(as, [
      ['file', [MP3, '../../evil.wav']],
      ['name', 'Tone'],
    ]);
    expect(two.data).toMatchObject({ name: 'Tone', type: 'audio', duration_ms: 1_000 });
    const listed = await world.api.request('GET', '/media/public/media', { as });
    expect((listed.data as MediaAnswer[]).map(({ name }) => name).sort()).toEqual(['Hello', 'Tone']);
  });

  it.each<[string, FormParts, number]>([
    ['without a file', [['name', 'A']], 400],
    ['without a name', [['file', [WAV, 'a.wav']]], 400],
    [
      'with an empty name',
      [
        ['name', ' '],
        ['file', [WAV, 'a.wav']],
      ],
      400,
    ],
    [
      'with a long name',
      [
        ['name', 'x'.repeat(201)],
        ['file', [WAV, 'a.wav']],
      ],
      400,
    ],
    [
      'with a very long name',
      [
        ['name', 'x'.repeat(5_000)],
        ['file', [WAV, 'a.wav']],
      ],
      400,
    ],
    [
      'with NUL in its name',
      [
        ['name', 'a\0b'],
        ['file', [WAV, 'a.wav']],
      ],
      400,
    ],
    [
      'with a text as file',
      [
        ['name', 'A'],
        ['file', 'RIFF....WAVE'],
      ],
      400,
    ],
    [
      'with two files',
      [
        ['name', 'A'],
        ['file', [WAV, 'a.wav']],
        ['file', [WAV, 'b.wav']],
      ],
      400,
    ],
    [
      'with the file under another name',
      [
        ['name', 'A'],
        ['audio', [WAV, 'a.wav']],
      ],
      400,
    ],
    [
      'with __proto__ as field',
      [
        ['__proto__', 'x'],
        ['name', 'A'],
        ['file', [WAV, 'a.wav']],
      ],
      400,
    ],
    ['with many fields', Array.from({ length: 40 }, (_, n) => [`f${n}`, 'x'] as [string, string]), 413],
    [
      'with a file that is no audio',
      [
        ['name', 'A'],
        ['file', [Buffer.from('text'), 'a.wav']],
      ],
      415,
    ],
    [
      'with an empty file',
      [
        ['name', 'A'],
        ['file', [Buffer.alloc(0), 'a.wav']],
      ],
      415,
    ],
    [
      'with audio of no length',
      [
        ['name', 'A'],
        ['file', [WAV.subarray(0, 44), 'a.wav']],
      ],
      422,
    ],
    [
      'with hours of audio in little',
      [
        ['name', 'A'],
        ['file', [silentFrames(30_000), 'a.mp3']],
      ],
      422,
    ],
    [
      'of more than 25 MiB',
      [
        ['name', 'A'],
        ['file', [Buffer.alloc(25 * MIB + 1), 'a.wav']],
      ],
      413,
    ],
  ])('is refused %s, and leaves nothing', async (_what, parts, status) => {
    const as = await world.account();
    const before = client.filesOnDisk();
    const answer = await client.upload(as, parts);
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({ status, request_id: expect.any(String) as string });
    expect((await world.api.request('GET', '/media/public/media', { as })).data).toEqual([]);
    expect(client.filesOnDisk()).toEqual(before);
  });

  it('is refused when it is no form', async () => {
    const as = await world.account();
    const send = (body: string, type: string) =>
      world.api.request('POST', '/media/public/media', { as, body, headers: { 'content-type': type } });
    expect((await send('x', 'multipart/form-data')).status).toBe(400);
    expect((await send('no parts', 'multipart/form-data; boundary=b')).status).toBe(400);
    expect(
      (
        await send(
          '--b\r\nContent-Disposition: form-data; name="name"\r\n\r\nA',
          'multipart/form-data; boundary=b',
        )
      ).status,
    ).toBe(400);
    expect((await send('RIFF', 'audio/wav')).status).toBe(415);
    expect((await send('{"name":"A"}', 'application/json')).status).toBe(400);
    expect((await send('{"name":"A","signed_upload":false}', 'application/json')).status).toBe(400);
    expect((await send('{', 'application/json')).status).toBe(400);
  });
});
