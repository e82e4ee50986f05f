/**
 * Loaded before the service (`node --import`): kills the process at a named point, where it meets PostgreSQL.
 * The service's own code is untouched; what is wrapped is the driver below it.
 *
 * CRASH_POINT  one of the points below
 * CRASH_AT     how often the point is passed before it strikes (1: the first time)
 * CRASH_MARK   a file made at the moment of the kill; while it is there, nobody else dies of it
 */
import { writeFileSync } from 'node:fs';
import pg from 'pg';

const INSERT = /^\s*insert into webhook_deliveries/i;
const COMMIT = /^\s*commit/i;
const CLAIM =
  /lease_owner = \$\d+[\s\S]*for update of o skip locked|for update of o skip locked[\s\S]*lease_owner = \$/i;
const RECORD = /insert into webhook_attempts/i;

const { CRASH_POINT: point, CRASH_MARK: mark } = process.env;
let left = Number(process.env.CRASH_AT ?? 1);

/** `weight`: how many rows passed the point at once. */
function strike(weight = 1) {
  left -= weight;
  if (left > 0) return;
  try {
    writeFileSync(mark, `${process.pid}\n`, { flag: 'wx' });
  } catch {
    // Another process died of it before.
    return;
  }
  process.kill(process.pid, 'SIGKILL');
}

const query = pg.Client.prototype.query;
const inserted = new WeakSet();

pg.Client.prototype.query = function (config, ...rest) {
  const text = typeof config === 'string' ? config : (config?.text ?? '');
  if (point === 'before insert' && INSERT.test(text)) strike();
  if (point === 'before record' && RECORD.test(text)) strike();
  if (INSERT.test(text)) inserted.add(this);
  const passed = (result) => {
    if (COMMIT.test(text) && inserted.delete(this) && point === 'after commit') strike();
    if (point === 'after claim' && CLAIM.test(text) && result?.rowCount > 0) strike(result.rowCount);
  };
  const last = rest.at(-1);
  // The pool asks with a callback, transactions with a promise.
  if (typeof last === 'function') {
    const heard = (error, result) => {
      passed(result);
      last(error, result);
    };
    return query.call(this, config, ...rest.slice(0, -1), heard);
  }
  const answer = query.call(this, config, ...rest);
  if (typeof answer?.then !== 'function') return answer;
  return answer.then((result) => {
    passed(result);
    return result;
  });
};
