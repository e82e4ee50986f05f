/** What a figure was measured on: results name the class of machine and the commit. */
import { execFileSync } from 'node:child_process';
import { cpus, totalmem } from 'node:os';

/** One line: cores, CPU, memory, Node, commit. */
export function machineLine(projectDir: string): string {
  const [first] = cpus();
  const gigabytes = Math.round(totalmem() / 2 ** 30);
  return [
    `${cpus().length} cores of ${first?.model.trim() ?? 'an unknown CPU'}`,
    `${gigabytes} GB`,
    `Node ${process.versions.node}`,
    `commit ${commitOf(projectDir)}`,
  ].join(' · ');
}

function commitOf(projectDir: string): string {
  try {
    const git = (...args: string[]): string =>
      execFileSync('git', ['-C', projectDir, ...args], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }).trim();
    return `${git('rev-parse', '--short', 'HEAD')}${git('status', '--porcelain', '--', 'src', 'native') === '' ? '' : ' with changes'}`;
  } catch {
    // An unpacked archive has no history; the figures stand without a commit.
    return 'unknown';
  }
}
