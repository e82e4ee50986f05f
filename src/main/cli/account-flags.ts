import { DUNNING_TIERS, FEATURES, PLANS } from '../../features/accounts/index.ts';
import type { AccountFlags } from '../../features/accounts/index.ts';
import { UsageError } from './context.ts';

const SWITCHES = {
  detection: 'detection',
  building_blocks: 'buildingBlocks',
  keep_transcripts: 'keepTranscripts',
  verified: 'verified',
  test_mode: 'testMode',
  suspended: 'suspended',
} as const;
type Flag = keyof AccountFlags;

const NONE = 'none';

/** How each word of `account set` is read; what it may be, for help and faults. */
const VALUES: Readonly<
  Record<string, { form: string; read: (text: string) => Partial<AccountFlags> | null }>
> = {
  plan: {
    form: PLANS.join('|'),
    read: (text) => named('plan', PLANS, text),
  },
  dunning: {
    form: [NONE, ...DUNNING_TIERS].join('|'),
    read: (text) => (text === NONE ? { dunningTier: null } : named('dunningTier', DUNNING_TIERS, text)),
  },
  features: {
    form: `${NONE} or ${FEATURES.join(',')}`,
    read: (text) => {
      const wanted = text === NONE ? [] : text.split(',');
      const features = FEATURES.filter((feature) => wanted.includes(feature));
      return features.length === wanted.length ? { features } : null;
    },
  },
  concurrent_sessions: { form: 'a whole number', read: (text) => numbered('concurrentSessions', text) },
  send_rate: {
    form: `${NONE} or a whole number`,
    read: (text) => (text === NONE ? { sendRate: null } : numbered('sendRate', text)),
  },
};

const FORMS = [
  ...Object.keys(SWITCHES).map((name) => `${name}=on|off`),
  ...Object.entries(VALUES).map(([name, { form }]) => `${name}=${form}`),
];

/** What `account set` takes, for its help. */
export const FLAG_FORMS = FORMS.join(' · ');

/** `name=value` words, at least one. @throws UsageError */
export function parseFlags(words: readonly string[]): AccountFlags {
  return Object.assign({}, ...words.map(parseFlag)) as AccountFlags;
}

function parseFlag(word: string): Partial<AccountFlags> {
  const cut = word.indexOf('=');
  const [name, value] = [word.slice(0, Math.max(cut, 0)), word.slice(cut + 1)];
  if (Object.hasOwn(SWITCHES, name) && (value === 'on' || value === 'off')) {
    return { [SWITCHES[name as keyof typeof SWITCHES]]: value === 'on' };
  }
  const flag = Object.hasOwn(VALUES, name) ? VALUES[name]?.read(value) : null;
  if (!flag) throw new UsageError(`'${word}' is no flag: give ${FORMS.join(', ')}`);
  return flag;
}

const named = (flag: Flag, values: readonly string[], text: string): Partial<AccountFlags> | null =>
  values.includes(text) ? { [flag]: text } : null;

const numbered = (flag: Flag, text: string): Partial<AccountFlags> | null =>
  /^\d{1,9}$/.test(text) ? { [flag]: Number(text) } : null;
