/**
 * The bare limit of a REST read: Fastify and pg, a route, one statement, its rows as they come. It asks nobody who they
 * are, checks nothing, and wraps nothing. The statements are the service's own, on the service's tables.
 */
import Fastify from 'fastify';
import pg from 'pg';
import { ContactsStore } from '../../../dist/features/contacts/contacts.store.js';
import { ListsStore } from '../../../dist/features/contacts/lists.store.js';

const CONNECTIONS_MAX = 20;

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: CONNECTIONS_MAX });
const app = Fastify({ logger: false });

/** The one statement that a store's method runs. */
async function statementOf(run) {
  let statement;
  const note = async (text) => {
    statement = text;
    return { rows: [] };
  };
  await run({ query: note, prepared: (_name, text) => note(text) });
  return statement;
}

const ID = '00000000-0000-4000-8000-000000000000';
const ONE = await statementOf((db) => new ContactsStore(db).findMany(ID, [ID]));
const pageAfter = (afterId) =>
  statementOf((db) => new ListsStore(db).members(ID, { listId: ID, afterId, limit: 1 }));
const FIRST_PAGE = await pageAfter(null);
const NEXT_PAGE = await pageAfter(ID);

app.get('/bare/:team/contacts/:id', async (request) => {
  const { team, id } = request.params;
  const { rows } = await pool.query(ONE, [team, [id]]);
  return rows[0];
});

app.get('/bare/:team/lists/:list/contacts', async (request) => {
  const { team, list } = request.params;
  const { limit, after_id: after } = request.query;
  const values = [team, list, Number(limit) + 1];
  const { rows } = await (after === undefined
    ? pool.query(FIRST_PAGE, values)
    : pool.query(NEXT_PAGE, [...values, after]));
  return rows;
});

await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT ?? 0) });
console.log(JSON.stringify({ port: app.server.address().port }));
process.once('SIGTERM', async () => {
  await app.close();
  await pool.end();
});
