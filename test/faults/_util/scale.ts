import { seeded } from '../../../samples/signal.ts';

/** `npm run test:faults:long` sets it: ten times the deliveries, longer stops, more kills. */
export const IS_LONG = process.env['FAULTS_LONG'] === '1';

export const scaled = (short: number, long: number): number => (IS_LONG ? long : short);

/** Limit of one test: generous, as two cores may be shared with the rest of the suite. */
export const CELL_LIMIT_MS = scaled(180_000, 900_000);

/** Where in a run a fault strikes: FAULTS_SEED repeats a run, otherwise each one is another and printed. */
export const SEED = Number(process.env['FAULTS_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

/** Whole numbers from `min` to `max`, both included, by the run's seed and a name. */
export function picker(name: string): (min: number, max: number) => number {
  const random = seeded([...name].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) >>> 0, SEED));
  console.info(`faults: ${name}: FAULTS_SEED=${SEED}`);
  return (min, max) => min + Math.floor(random() * (max - min + 1));
}
