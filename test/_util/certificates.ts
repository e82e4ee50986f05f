import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Makes a self-signed certificate for 127.0.0.1 with openssl: `<name>.cert.pem` and `<name>.key.pem` in `folder`. */
export async function makeCertificate(folder: string, name: string): Promise<{ cert: string; key: string }> {
  const cert = join(folder, `${name}.cert.pem`);
  const key = join(folder, `${name}.key.pem`);
  const kind = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const subject = ['-subj', `/CN=${name}.test`, '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2'];
  await run('openssl', [...kind, ...subject, '-keyout', key, '-out', cert], { timeout: 20_000 });
  return { cert, key };
}

/** Whether this machine can make certificates. */
export async function hasOpenssl(): Promise<boolean> {
  return run('openssl', ['version'], { timeout: 20_000 }).then(
    () => true,
    () => false,
  );
}
