import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import type { Logger } from '../logger/index.ts';
import { PrismaClient } from './generated/client.ts';
import { Listener } from './listener.ts';

const CONNECT_TIMEOUT_MS = 5_000;
const IDLE_TIMEOUT_MS = 30_000;
/** No statement of the service runs longer; a server that froze is noticed by the client half a second later. */
const STATEMENT_TIMEOUT_MS = 30_000;
const ANSWER_TIMEOUT_MS = 30_500;
/** Prisma serves administration only: a handful of connections beside the hot pool. */
const PRISMA_CONNECTIONS_MAX = 4;

export type Tx = pg.PoolClient;
export type { Pool, PoolClient, QueryResult, QueryResultRow } from 'pg';

/** The database of one process: a pool for SQL, Prisma for administration, LISTEN on connections of its own. */
export interface Db {
  readonly pool: pg.Pool;
  readonly prisma: PrismaClient;
  query<R extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<pg.QueryResult<R>>;
  /**
   * As `query`, planned once for each connection: for statements of fixed text that every request runs. A name belongs to
   * one text.
   */
  prepared<R extends pg.QueryResultRow>(
    name: string,
    text: string,
    values: unknown[],
  ): Promise<pg.QueryResult<R>>;
  /** Runs `work` in one transaction: committed when it resolves, rolled back when it throws. */
  tx<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Payloads of NOTIFY on `channel`; '' after a reconnect, since notifications may be missing. Resolves to its end. */
  listen(channel: string, onPayload: (payload: string) => void): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

export interface DbOptions {
  readonly url: string;
  readonly maxConnections: number;
  readonly applicationName: string;
  readonly logger: Logger;
}

// bigint columns are counters and micro-units: bigint in TypeScript, as Prisma gives them too.
const INT8_OID = 20;
type ParserOf = (oid: number, format?: 'text' | 'binary') => (text: string) => unknown;
const parserOf: ParserOf = (oid, format) =>
  oid === INT8_OID && format !== 'binary' ? BigInt : (pg.types.getTypeParser as ParserOf)(oid, format);
const types: pg.CustomTypesConfig = { getTypeParser: parserOf as pg.CustomTypesConfig['getTypeParser'] };

/** Opens lazily: connections are made when first used, so a database that is away shows in the first query. */
export function openDb(options: DbOptions): Db {
  let isClosing = false;
  const onIdleLost = (error: Error): void => {
    if (!isClosing) options.logger.warn({ err: error }, 'An idle database connection was lost.');
  };
  const pool = openPool(options, { query_timeout: ANSWER_TIMEOUT_MS, keepAlive: true, types });
  pool.on('error', onIdleLost);
  const administration = openPool(
    { ...options, applicationName: `${options.applicationName}-prisma` },
    { max: Math.min(options.maxConnections, PRISMA_CONNECTIONS_MAX) },
  );
  administration.on('error', onIdleLost);
  const prisma = new PrismaClient({ adapter: new PrismaPg(administration) });
  const listeners = new Set<Listener>();
  return {
    pool,
    prisma,
    query: (text, values) => pool.query(text, values),
    prepared: (name, text, values) => pool.query({ name, text, values }),
    tx: (work) => transaction(pool, work),
    listen: async (channel, onPayload) => {
      const listener = new Listener({ ...options, channel, onPayload });
      await listener.start();
      listeners.add(listener);
      return async () => {
        listeners.delete(listener);
        await listener.stop();
      };
    },
    close: async () => {
      isClosing = true;
      await Promise.all([...listeners].map((listener) => listener.stop()));
      await prisma.$disconnect();
      await Promise.all([administration.end(), pool.end()]);
    },
  };
}

/** A connection that breaks tells so between two uses too, when nobody listens: unheard it would end the process. */
function openPool({ url, maxConnections, applicationName }: DbOptions, more: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: maxConnections,
    application_name: applicationName,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    ...more,
  });
  // The query or the pool hears of it as well, and throws the client away.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

async function transaction<T>(pool: pg.Pool, work: (tx: Tx) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  // A checked-out client reports a lost connection here as well as to its query; unheard it would end the process.
  const onError = (error: Error): void => void (broken = error);
  client.on('error', onError);
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch((cause: Error) => void (broken ??= cause));
    throw error;
  } finally {
    client.off('error', onError);
    // A client that could not roll back is thrown away: its state is not known.
    client.release(broken);
  }
}
