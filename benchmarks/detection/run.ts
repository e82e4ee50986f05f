/**
 * `npm run bench:detection [-- --quick --assert --failures --only GROUP --no-write]`: the labelled recordings and the
 * calls built from them, played to the addon as fast as it goes.
 *   --quick     without the spoiled lines      --assert    exit 1 when a target is missed
 *   --failures  name every case that went wrong --only G    only cases of one group (no results are written)
 * TONEGATE_AUDIO_DIR: folder of the recordings; TONEGATE_BENCH_SEED: another draw of cuts, pauses and noise.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { machineLine } from '../machine.ts';
import { asLiveCheck, type Case } from './case.ts';
import {
  cutAnswerCases,
  greetingCases,
  recordingCases,
  shortAnswerCases,
  silenceCases,
} from './cases.people.ts';
import {
  beepMixCases,
  earlyMediaCases,
  greetingWithBeepCases,
  hardBeepCases,
  musicCases,
  realBeepCases,
  signalCases,
} from './cases.tones.ts';
import { audioDir, loadCorpus } from './corpus.ts';
import { PLAIN, VARIANTS, type Variant } from './mix.ts';
import { loadAddon, play } from './play.ts';
import { failures, report } from './report.ts';
import { judge, type Judged } from './score.ts';
import { targetsOf } from './targets.ts';

const PROJECT_DIR = fileURLToPath(new URL('../..', import.meta.url));

const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    assert: { type: 'boolean', default: false },
    failures: { type: 'boolean', default: false },
    'no-write': { type: 'boolean', default: false },
    only: { type: 'string' },
  },
});
const seed = Number(process.env.TONEGATE_BENCH_SEED ?? 1);
const dir = audioDir(process.env, PROJECT_DIR);

if (!existsSync(join(dir, 'manifest.csv'))) {
  console.log(`no recordings in ${dir}: set TONEGATE_AUDIO_DIR to the folder with manifest.csv`);
  process.exit(flags.assert ? 1 : 0);
}

const open = loadAddon();
const corpus = loadCorpus(dir);
const people = [
  ...shortAnswerCases(corpus, seed),
  ...cutAnswerCases(corpus, 1500, seed),
  ...cutAnswerCases(corpus, 2500, seed),
  ...greetingCases(corpus, seed),
  ...greetingWithBeepCases(corpus, seed),
  ...silenceCases(seed),
];
const cases = [
  ...recordingCases(corpus),
  ...people,
  ...signalCases(),
  ...musicCases(corpus),
  ...earlyMediaCases(corpus, seed),
  ...beepMixCases(corpus, seed),
  ...hardBeepCases(corpus, seed),
  ...realBeepCases(corpus, seed),
];

const playAll = (items: readonly Case[], variant: Variant): Judged[] =>
  items
    .filter((item) => flags.only === undefined || item.group === flags.only)
    .map((item) => judge(play(open, item, { variant, seed })));

const startedAt = performance.now();
const standard = playAll(cases, PLAIN);
const liveCheck = playAll(people.map(asLiveCheck), PLAIN);
const variants = (flags.quick ? [] : VARIANTS).map((variant) => ({
  name: variant.name,
  judged: playAll(
    cases.filter(({ group }) => group !== 'beep hard'),
    variant,
  ),
}));
const everything = [...standard, ...liveCheck, ...variants.flatMap(({ judged }) => judged)];
const targets = targetsOf({ standard, liveCheck, everything });
const hours = everything.reduce((sum, { outcome }) => sum + outcome.audioMs, 0) / 3_600_000;
const text = [
  '# Detection, measured',
  `${machineLine(PROJECT_DIR)}. ${corpus.length} recordings, ${everything.length} calls, ${hours.toFixed(1)} hours of audio, seed ${seed}.`,
  report({ targets, standard, liveCheck, variants }),
].join('\n\n');

if (flags.failures) console.log(failures([...standard, ...liveCheck]).join('\n'));
console.log(text);
console.log(`\nplayed in ${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
const whole = flags.only === undefined && !flags.quick && !flags['no-write'];
if (whole) writeFileSync(join(PROJECT_DIR, 'benchmarks/results/detection.md'), `${text}\n`);
const missed = targets.filter((target) => !target.met);
if (flags.assert && missed.length > 0) {
  console.error(`missed: ${missed.map((target) => target.what).join('; ')}`);
  process.exitCode = 1;
}
