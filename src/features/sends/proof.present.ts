import { OUTCOMES } from '../../kernel/outcome.ts';
import type { Proof } from './proof.service.ts';

const ESCAPED: Readonly<Record<string, string>> = {
  ...{ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' },
};

const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => ESCAPED[character] ?? '');

const timeOf = (ms: number): string =>
  `<time datetime="${new Date(ms).toISOString()}">${new Date(ms).toUTCString()}</time>`;

const meaningOf = (code: number): string => OUTCOMES.find((outcome) => outcome.code === code)?.meaning ?? '';

/** The page: plain HTML without scripts, readable on its own. */
export function presentProof(proof: Proof): string {
  const rows: readonly (readonly [string, string])[] = [
    ['Sent for', escapeHtml(proof.accountName)],
    ['To', escapeHtml(proof.phoneNumber)],
    ['From', escapeHtml(proof.callerId ?? 'not shown')],
    ['Result', `${escapeHtml(meaningOf(proof.outcomeCode))} (${proof.outcomeCode})`],
    ['Attempted', timeOf(proof.attemptedAtMs)],
    ['Result received', timeOf(proof.finishedAtMs)],
    ['This page ends', timeOf(proof.expiresAtMs)],
  ];
  const list = rows.map(([name, value]) => `<dt>${name}</dt><dd>${value}</dd>`).join('\n');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>Proof of delivery</title>
</head>
<body>
<h1>Proof of delivery</h1>
<dl>
${list}
</dl>
</body>
</html>
`;
}
