/**
 * Loaded before the service (`node --import`): kills the process at a named point, where it meets PostgreSQL, or cuts
 * its connection there. The service's own code is untouched; what is wrapped is the driver below it.
 *
 * CRASH_POINT  one of the points below
 * CRASH_AT     how often the point is passed before it strikes (1: the first time); a batch counts each of its rows
 * CRASH_MARK   a file made at the moment of the kill; while it is there, nobody else dies of it
 * CRASH_ARM    omitted: passes count from the start; else from the moment on at which this file is there
 */
import { existsSync, writeFileSync } from 'node:fs';
import pg from 'pg';

const CLAIM =
  /lease_owner = \$\d+[\s\S]*for update of o skip locked|for update of o skip locked[\s\S]*lease_owner = \$/i;
const COMMIT = /^\s*commit/i;

/** How many rows a statement writes whose parameters are columns. */
const columnLength = (values) => values?.[0]?.length ?? 1;
const once = () => 1;

/**
 * before: strikes ahead of the statement · committed: behind the commit of a transaction with it · claimed: behind a
 * claim of rows of that topic (null: any) · weight: rows that pass with one statement · isCut: nobody is killed, the
 * connection breaks, so that the process never hears of its commit
 */
const POINTS = {
  'before insert': { before: /^\s*insert into webhook_deliveries/i, weight: once },
  'after commit': { committed: /^\s*insert into webhook_deliveries/i, weight: once },
  'after claim': { claimed: null },
  'before record': { before: /insert into webhook_attempts/i, weight: once },
  'before a send is inserted': { before: /insert into sends \(/i, weight: columnLength },
  'after a send is committed': { committed: /insert into sends \(/i, weight: columnLength },
  'after a send is claimed': { claimed: 'send.dispatch' },
  'after an attempt is committed': { committed: /insert into contact_attempts/i, weight: columnLength },
  'an attempt is committed and not heard of': {
    committed: /insert into contact_attempts/i,
    weight: columnLength,
    isCut: true,
  },
  'before an answer is recorded': { before: /set carrier_message_id = w\./i, weight: columnLength },
  'before a result is recorded': { before: /update sends s set state = 'finished'/i, weight: columnLength },
};

const { CRASH_POINT, CRASH_MARK: mark, CRASH_ARM: arm } = process.env;
const point = POINTS[CRASH_POINT];
let left = Number(process.env.CRASH_AT ?? 1);

function strike(weight, client) {
  if (weight === 0 || (arm !== undefined && !existsSync(arm))) return;
  left -= weight;
  if (left > 0) return;
  try {
    writeFileSync(mark, `${process.pid}\n`, { flag: 'wx' });
  } catch {
    // Another process died of it before.
    return;
  }
  if (!point.isCut) return void process.kill(process.pid, 'SIGKILL');
  client.connection.stream.destroy();
  throw Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' });
}

const query = pg.Client.prototype.query;
/** Rows that a connection's open transaction has written. */
const written = new WeakMap();

const claimedOf = ({ rows }) => rows.filter(({ topic }) => (point.claimed ?? topic) === topic).length;

pg.Client.prototype.query = function (config, ...rest) {
  const text = typeof config === 'string' ? config : (config?.text ?? '');
  const values = config?.values ?? rest[0];
  if (point?.before?.test(text)) strike(point.weight(values));
  if (point?.committed?.test(text)) written.set(this, (written.get(this) ?? 0) + point.weight(values));
  const passed = (result) => {
    if (COMMIT.test(text)) {
      const weight = written.get(this) ?? 0;
      written.delete(this);
      strike(weight, this);
    }
    if (point?.claimed !== undefined && CLAIM.test(text) && result?.rowCount > 0) strike(claimedOf(result));
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
