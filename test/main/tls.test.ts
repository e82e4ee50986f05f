import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { hasOpenssl, makeCertificate } from '../_util/certificates.ts';
import { dataFolder, startService, stopService, until } from '../_util/index.ts';
import type { ReadyLine, RunningService } from '../_util/index.ts';

const isPossible = await hasOpenssl();
if (!isPossible)
  console.warn('skipped: TLS of the built service (this machine has no openssl to make certificates)');

/** The name on the certificate that an address shows now. */
async function shownName(address: string): Promise<string> {
  const { hostname, port } = new URL(address);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false }, () => {
      const { subject } = socket.getPeerCertificate();
      socket.destroy();
      resolve(String(subject.CN));
    });
    socket.once('error', reject);
  });
}

describe.skipIf(!isPossible)('TLS of the built service', () => {
  let folder: string;
  let data: Awaited<ReturnType<typeof dataFolder>>;
  let service: RunningService;
  let ready: ReadyLine;
  const file = (name: string): string => join(folder, name);

  const install = async (name: string): Promise<void> => {
    await copyFile(file(`${name}.cert.pem`), file('cert.pem'));
    await copyFile(file(`${name}.key.pem`), file('key.pem'));
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tonegate-tls-'));
    data = await dataFolder();
    await makeCertificate(folder, 'first');
    await makeCertificate(folder, 'second');
    await install('first');
    service = startService({
      DATA_DIR: data.path,
      TLS_CERT_FILE: file('cert.pem'),
      TLS_KEY_FILE: file('key.pem'),
      SHUTDOWN_GRACE_SEC: '1',
    });
    ready = await service.ready;
  });
  afterAll(async () => {
    await stopService(service);
    await data.remove();
    await rm(folder, { recursive: true, force: true });
  });

  it('speaks TLS on every public port and plain HTTP on the internal one', async () => {
    expect(ready.http).toMatch(/^https:/);
    expect(ready.detect).toMatch(/^wss:/);
    expect(ready.auth).toMatch(/^https:/);
    expect(ready.internal).toMatch(/^http:/);
    for (const address of [ready.http, ready.detect, ready.auth]) {
      expect(await shownName(address)).toBe('first.test');
    }
    await expect(fetch(ready.http.replace('https', 'http'))).rejects.toThrow();
    expect((await fetch(`${ready.internal}/readyz`)).status).toBe(200);
  });

  it('shows new files after SIGHUP and drops no socket', async () => {
    const socket = new WebSocket(`${ready.detect}/carrier/ws?api_key=x`, { rejectUnauthorized: false });
    const refused = new Promise<number>((resolve, reject) => {
      socket.once('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0));
      socket.once('open', () => reject(new Error('a wrong key was taken')));
    });
    expect(await refused).toBe(401);

    const { hostname, port } = new URL(ready.http);
    const kept = connect({ host: hostname, port: Number(port), rejectUnauthorized: false });
    await new Promise<void>((resolve) => kept.once('secureConnect', () => resolve()));
    let answers = '';
    kept.on('data', (chunk: Buffer) => (answers += chunk.toString()));
    await install('second');
    service.kill('SIGHUP');
    await until(async () => (await shownName(ready.http)) === 'second.test');
    await until(async () => (await shownName(ready.detect)) === 'second.test');
    await until(async () => (await shownName(ready.auth)) === 'second.test');
    kept.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    await until(() => answers.includes('200 OK'));
    kept.destroy();
  });

  it('keeps the former pair when the files are not usable, and says so', async () => {
    await writeFile(file('key.pem'), 'not a key');
    service.kill('SIGHUP');
    await until(() => service.stderr().includes('the former pair stays'));
    expect([await shownName(ready.http), await shownName(ready.detect)]).toEqual([
      'second.test',
      'second.test',
    ]);
    expect((await fetch(`${ready.internal}/readyz`)).status).toBe(200);
  });

  it('stops a start with a pair that does not belong together by exit code 78', async () => {
    await copyFile(file('first.key.pem'), file('key.pem'));
    const wrong = startService({ TLS_CERT_FILE: file('cert.pem'), TLS_KEY_FILE: file('key.pem') });
    expect(await wrong.exited).toEqual({ code: 78, signal: null });
    expect(wrong.stderr()).toMatch(/^TLS_CERT_FILE and TLS_KEY_FILE must be a pair in PEM form/);
  });
});
