/**
 * Taking a send the way it is usually begun: Fastify, Prisma and BullMQ. The key is looked up and its secret compared, the send
 * is one row, a job has it dispatched, then 202. No scopes, no limits, no idempotency, no steps. It writes to the service's own
 * table through the service's own Prisma client.
 */
import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import { PrismaPg } from '@prisma/adapter-pg';
import { Queue } from 'bullmq';
import Fastify from 'fastify';
import { PrismaClient } from '../../../dist/platform/db/generated/client.js';

const CONNECTIONS_MAX = 20;

const { DATABASE_URL, REDIS_URL, PORT = '0' } = process.env;
const prisma = new PrismaClient({
  adapter: new PrismaPg({ connectionString: DATABASE_URL, max: CONNECTIONS_MAX }),
});
const queue = new Queue('peer-sends', { connection: { url: REDIS_URL } });
const app = Fastify({ logger: false });

/** Sorts by its time, as the partitions of the table want it. */
function timedId(nowMs) {
  const time = nowMs.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

async function keyOf({ 'x-key': key = '', 'x-secret': secret = '' }) {
  const found = await prisma.apiKey.findUnique({ where: { key }, include: { team: true } });
  const hash = createHash('sha256').update(secret).digest();
  return found && timingSafeEqual(found.secretHash, hash) ? found : null;
}

app.post('/sms', async (request, reply) => {
  const key = await keyOf(request.headers);
  if (!key) return reply.status(401).send({ error: 'unauthorized' });
  const nowMs = Date.now();
  const id = timedId(nowMs);
  await prisma.send.create({
    data: {
      ...{ id, teamId: key.teamId, channel: 'sms', request: request.body, createdBy: key.createdBy },
      foreignId: request.body.foreign_id ?? null,
      callbackUrl: request.body.callback_url ?? null,
      createdAt: new Date(nowMs),
    },
  });
  await queue.add('dispatch', { id }, { removeOnComplete: true });
  return reply.status(202).send({ status: 'queued', message_id: id });
});

await app.listen({ host: '127.0.0.1', port: Number(PORT) });
console.log(JSON.stringify({ port: app.server.address().port }));
process.once('SIGTERM', async () => {
  await app.close();
  await queue.close();
  await prisma.$disconnect();
});
