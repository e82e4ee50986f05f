/** Fields that hold what was said (supplement 13, Transcripts). */
const SPOKEN_FIELDS = new Set(['text', 'words', 'transcript', 'phrase']);
const SPOKEN_HINT = /"(?:text|words|transcript|phrase)"/;

/** A delivery's body without what was said; null when there is nothing to take out. */
export function withoutTranscript(body: string): string | null {
  if (!SPOKEN_HINT.test(body)) return null;
  return JSON.stringify(JSON.parse(body), (name, value: unknown) =>
    SPOKEN_FIELDS.has(name) ? undefined : value,
  );
}
