/** What a text of one word asks for. */
export type Keyword = 'stop' | 'start' | 'help';

/** The words that carriers ask every sender to honour (CTIA Messaging Principles, 5.1.3). */
const KEYWORDS: ReadonlyMap<string, Keyword> = new Map([
  ...['STOP', 'STOPALL', 'UNSUBSCRIBE', 'CANCEL', 'END', 'QUIT', 'REVOKE', 'OPTOUT'].map(
    (word) => [word, 'stop'] as const,
  ),
  ...['START', 'YES', 'UNSTOP'].map((word) => [word, 'start'] as const),
  ...['HELP', 'INFO'].map((word) => [word, 'help'] as const),
]);

/** Longer texts say more than one word. */
const LENGTH_MAX = 40;
const BESIDE_THE_WORD = /[^\p{L}\p{N}]/gu;

/**
 * The word that a text is, whatever its case, punctuation and blanks ("Stop.", "OPT-OUT", "stop all"); null: it says
 * something else, or more.
 */
export function keywordOf(body: string): { keyword: Keyword; word: string } | null {
  if (body.length > LENGTH_MAX) return null;
  const word = body.normalize('NFKC').replace(BESIDE_THE_WORD, '').toUpperCase();
  const keyword = KEYWORDS.get(word);
  return keyword ? { keyword, word } : null;
}
