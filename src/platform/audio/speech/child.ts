import { spawn } from 'node:child_process';
import { SpeechError } from './speech.type.ts';

export interface ChildJob {
  readonly executable: string;
  readonly args: readonly string[];
  /** Given on stdin. */
  readonly input: string;
  readonly timeLimitMs: number;
  readonly bytesMax: number;
}

/** Runs a program without a shell and answers its stdout; past its time or its bytes it is killed. @throws SpeechError */
export async function runChild(job: ChildJob): Promise<Buffer> {
  // A group of its own, so that whatever it started ends with it.
  const child = spawn(job.executable, job.args, {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { PATH: process.env.PATH },
    detached: true,
  });
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<Buffer>((resolve, reject) => {
      const fail = (fault: SpeechError['fault'], message: string): void =>
        reject(new SpeechError(fault, message));
      timer = setTimeout(() => fail('too-slow', 'the speech engine took too long'), job.timeLimitMs);
      const chunks: Buffer[] = [];
      let bytes = 0;
      child.stdout.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        if ((bytes += chunk.length) > job.bytesMax) fail('failed', 'the speech engine said too much');
      });
      child.once('error', (error: NodeJS.ErrnoException) =>
        fail(
          error.code === 'ENOENT' ? 'missing' : 'failed',
          `the speech engine did not start (${error.code})`,
        ),
      );
      // It may end without having read its input; its exit code tells.
      child.stdin.on('error', () => child.stdin.destroy());
      child.once('close', (code) => {
        if (code === 0) resolve(Buffer.concat(chunks));
        else fail('failed', `the speech engine ended with ${code}`);
      });
      child.stdin.end(job.input);
    });
  } finally {
    clearTimeout(timer);
    endGroup(child.pid);
    child.stdout.destroy();
  }
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
