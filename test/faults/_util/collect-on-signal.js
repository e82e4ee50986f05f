/**
 * Loaded before the service (`node --import`) in the soak run: on SIGUSR2 the process collects its garbage, so that
 * what it holds can be read without what it has merely not thrown away yet.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
process.on('SIGUSR2', () => collect());
