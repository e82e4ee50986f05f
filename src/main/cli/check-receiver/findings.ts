import { faultOf } from '../../../features/webhooks/index.ts';
import type { Net, PostAnswer } from '../../../platform/net/index.ts';
import type { Sample } from './samples.ts';

/** A receiver that is too slow is waited for this many times its limit, so that its real time can be told. */
const WAIT_FACTOR = 3;

/** What a receiver did with one POST. */
export interface Finding {
  readonly name: string;
  /** Null: no answer. */
  readonly statusCode: number | null;
  readonly durationMs: number;
  /** What is wrong and what to do, in plain words; null when nothing is. */
  readonly problem: string | null;
  /** Further POSTs would find the same. */
  readonly isUnreachable: boolean;
}

/** Makes one POST and judges the answer. */
export async function tryReceiver(net: Net, url: string, sample: Sample): Promise<Finding> {
  const { name, headers, body, limitMs } = sample;
  try {
    const answer = await net.post({ url, headers, body, timeoutMs: limitMs * WAIT_FACTOR });
    const durationMs = Math.round(answer.durationMs);
    return {
      name,
      statusCode: answer.status,
      durationMs,
      problem: judge(sample, answer),
      isUnreachable: false,
    };
  } catch (error) {
    const { word } = faultOf(error);
    const isLate = word === 'timeout';
    const durationMs = isLate ? limitMs * WAIT_FACTOR : 0;
    const problem = isLate
      ? `no answer within ${seconds(durationMs)}: ${lateAdvice(limitMs)}`
      : unreachable(word);
    return { name, statusCode: null, durationMs, problem, isUnreachable: true };
  }
}

function judge(sample: Sample, { status, durationMs, headers }: PostAnswer): string | null {
  if (durationMs > sample.limitMs)
    return `answered after ${seconds(durationMs)}: ${lateAdvice(sample.limitMs)}`;
  if (status >= 300 && status < 400) {
    const to = headers['location'] === undefined ? '' : ` to ${headers['location'].slice(0, 200)}`;
    return `redirects${to}: redirects are not followed, give the final address`;
  }
  const isAccepted = status >= 200 && status < 300;
  if (sample.expects === 'refuse') return isAccepted ? ACCEPTED[kindOf(sample)] : null;
  if (isAccepted) return null;
  if (sample.name.endsWith('sent again'))
    return `refuses an event that it has seen with ${status}: answer 2xx and do nothing, or it is sent again and again`;
  if (status === 410) return 'answers 410, which disables a subscription: answer 2xx';
  if (status >= 500) return `fails with ${status} on a well signed event`;
  return `refuses a well signed event with ${status}: check the secret, and that the signature is taken over the raw body`;
}

const kindOf = (sample: Sample): keyof typeof ACCEPTED => (sample.name.endsWith('old') ? 'stale' : 'forged');

const ACCEPTED = {
  forged: 'accepts a bad signature: anyone could send it events; answer 401 unless the signature verifies',
  stale:
    'accepts a signature of 10 minutes ago: a recorded event could be played again; refuse beyond 5 minutes',
} as const;

const lateAdvice = (limitMs: number): string =>
  `the limit is ${seconds(limitMs)}; answer first and do the work afterwards`;

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(ms < 10_000 && ms % 1_000 !== 0 ? 1 : 0)} s`;

const UNREACHABLE: Readonly<Record<string, string>> = {
  connection_refused: 'nothing listens at this address',
  connection_lost: 'the connection was cut before an answer came',
  dns: 'the name does not resolve',
  tls: 'the TLS handshake failed: the certificate must be valid for the name',
  unreachable: 'the address cannot be reached',
  invalid_answer: 'the answer was no HTTP',
};

const unreachable = (word: string): string => UNREACHABLE[word] ?? `no connection (${word})`;
