import { readFile } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import ts from 'typescript';
import type { Answer, CaughtWebhook } from '../_util/index.ts';

const GUIDE = new URL('../../docs/GUIDE.md', import.meta.url);

/** The samples of the guide, run as they stand there. */
export interface GuideSamples {
  isFromTonegate: (rawBody: Buffer, headers: IncomingHttpHeaders, secret: string) => boolean;
  verify: (rawBody: Buffer, headers: IncomingHttpHeaders, detectionKey: string) => boolean;
}

export async function guideSamples(): Promise<GuideSamples> {
  const text = await readFile(GUIDE, 'utf8');
  const block = (language: string, holding: string): string => {
    const blocks = [...text.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, 'gm'))].map(
      ([, code]) => code ?? '',
    );
    const found = blocks.filter((code) => code.includes(holding));
    if (found.length !== 1)
      throw new Error(`the guide has ${found.length} blocks of ${language} with ${holding}`);
    return found[0] ?? '';
  };
  const own = await load(block('ts', 'isFromTonegate'));
  const detection = await load(`${block('js', 'function verify')}\nexport { verify };`);
  return {
    isFromTonegate: own['isFromTonegate'] as GuideSamples['isFromTonegate'],
    verify: detection['verify'] as GuideSamples['verify'],
  };
}

async function load(code: string): Promise<Record<string, unknown>> {
  const options = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };
  const { outputText, diagnostics } = ts.transpileModule(code, {
    compilerOptions: options,
    reportDiagnostics: true,
  });
  if (diagnostics?.length) throw new Error('a sample of the guide is no TypeScript');
  const url = `data:text/javascript,${encodeURIComponent(outputText)}`;
  return (await import(/* @vite-ignore */ url)) as Record<string, unknown>;
}

/** A receiver as the guide tells to write one: verifies, answers 2xx, and takes each event once. */
export function guideReceiver(verifies: (rawBody: Buffer, headers: IncomingHttpHeaders) => boolean): {
  answer: (hook: CaughtWebhook) => Answer;
  taken: Set<string>;
} {
  const taken = new Set<string>();
  return {
    taken,
    answer: (hook) => {
      if (!verifies(Buffer.from(hook.body), hook.headers)) return { status: 401 };
      taken.add(String(hook.headers['x-event-id'] ?? hook.headers['x-delivery-id']));
      return { status: 204 };
    },
  };
}
