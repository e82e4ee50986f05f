import type { Tx } from '../../platform/db/index.ts';
import type { SendKey } from './dispatch.type.ts';
import type { StepKind } from './send.type.ts';

/** Something that happened to a send. */
export interface NewStep extends SendKey {
  readonly kind: StepKind;
  readonly atMs: number;
  /** In wire form (snake_case); what has no value is left out. */
  readonly detail: Readonly<Record<string, unknown>>;
}

const INSERT_SQL = `
insert into send_steps (send_id, team_id, kind, at, detail)
select w.send_id, w.team_id, w.kind, w.at, w.detail
from unnest($1::uuid[], $2::uuid[], $3::text[], $4::timestamptz[], $5::jsonb[])
  with ordinality as w (send_id, team_id, kind, at, detail, ord)
order by w.ord`;

/** The statement that adds to send_steps. */
export async function insertSteps(tx: Tx, steps: readonly NewStep[]): Promise<void> {
  if (steps.length === 0) return;
  await tx.query(INSERT_SQL, [
    steps.map((step) => step.sendId),
    steps.map((step) => step.teamId),
    steps.map((step) => step.kind),
    steps.map((step) => new Date(step.atMs)),
    steps.map((step) => JSON.stringify(step.detail, plain)),
  ]);
}

/** Money in JSON is a text: its micro-units may be more than a number can hold. */
const plain = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? value.toString() : value);
