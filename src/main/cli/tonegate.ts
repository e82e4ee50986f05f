#!/usr/bin/env node
// Nothing of the service is imported before the version is known: on an older Node it would fail without a word why.
const OLDEST = [20, 19] as const;
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
  process.stderr.write(
    `tonegate needs Node ${OLDEST.join('.')} or newer; this is ${process.versions.node}\n`,
  );
  process.exit(1);
}

const { runCommandLine } = await import('./program.ts');
// What a command opened is closed by now; whatever else holds the event loop must not hold the process.
process.exit(await runCommandLine(process.argv));
