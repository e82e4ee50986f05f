/**
 * The console's nested query the way it is usually begun: Apollo Server, type-graphql and Prisma, a resolver for each
 * relation that asks the database for its one contact. No batches, no account to be proven, no limits. It reads the
 * service's tables through the service's own Prisma client. Decorators are called as functions: this is plain JavaScript.
 */
import 'reflect-metadata';
import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import { PrismaPg } from '@prisma/adapter-pg';
import {
  Arg,
  buildSchema,
  Ctx,
  Field,
  FieldResolver,
  ID,
  Int,
  ObjectType,
  Query,
  Resolver,
  Root,
} from 'type-graphql';
import { PrismaClient } from '../../../dist/platform/db/generated/client.js';

const CONNECTIONS_MAX = 20;

const prisma = new PrismaClient({
  adapter: new PrismaPg({ connectionString: process.env.DATABASE_URL, max: CONNECTIONS_MAX }),
});

/** Declares an object type of named fields; each is nullable unless it ends in `!`. */
function objectType(name, fields) {
  const type = { [name]: class {} }[name];
  for (const [field, of] of Object.entries(fields)) Field(of, { nullable: true })(type.prototype, field);
  ObjectType(name)(type);
  return type;
}

const text = () => String;
const id = () => ID;

const Note = objectType('Note', { id, noteText: text, createdBy: id, createdAt: text });
const NoteEdge = objectType('NoteEdge', { node: () => Note });
const NoteConnection = objectType('NoteConnection', { edges: () => [NoteEdge] });
const ContactTag = objectType('ContactTag', { tagId: id, label: text, color: text, taggedAt: text });
const ContactList = objectType('ContactList', { id, name: text, contactCount: () => Int });
const Contact = objectType('Contact', {
  ...{ id, firstName: text, lastName: text, email: text, company: text, createdAt: text },
});
const ContactEdge = objectType('ContactEdge', { node: () => Contact });
const PageInfo = objectType('PageInfo', { hasNextPage: () => Boolean, endCursor: text });
const ContactConnection = objectType('ContactConnection', {
  edges: () => [ContactEdge],
  pageInfo: () => PageInfo,
});

class ContactsResolver {
  async contacts(first, { teamId }) {
    const found = await prisma.contact.findMany({
      where: { teamId },
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      take: first + 1,
    });
    const page = found.slice(0, first);
    return {
      edges: page.map((contact) => ({ node: { ...contact, createdAt: contact.createdAt.toISOString() } })),
      pageInfo: { hasNextPage: found.length > first, endCursor: page.at(-1)?.id },
    };
  }

  async tags(contact) {
    const found = await prisma.contactTag.findMany({
      where: { contactId: contact.id, tag: { deletedAt: null } },
      include: { tag: true },
    });
    return found.map(({ tag, tagId, taggedAt }) => ({
      ...{ tagId, label: tag.label, color: tag.color, taggedAt: taggedAt.toISOString() },
    }));
  }

  async lists(contact) {
    const found = await prisma.contactListMember.findMany({
      where: { contactId: contact.id },
      include: { list: true },
    });
    return found.map(({ list }) => list);
  }

  async notes(contact, first) {
    const found = await prisma.contactNote.findMany({
      where: { contactId: contact.id },
      orderBy: [{ createdAt: 'desc' }, { id: 'asc' }],
      take: first,
    });
    return { edges: found.map((note) => ({ node: { ...note, createdAt: note.createdAt.toISOString() } })) };
  }
}

const { prototype } = ContactsResolver;
const method = (name, ...decorators) => {
  for (const decorate of decorators)
    decorate(prototype, name, Object.getOwnPropertyDescriptor(prototype, name));
};
const parameter = (name, index, decorate) => decorate(prototype, name, index);
parameter(
  'contacts',
  0,
  Arg('first', () => Int),
);
parameter('contacts', 1, Ctx());
method(
  'contacts',
  Query(() => ContactConnection),
);
for (const name of ['tags', 'lists', 'notes']) parameter(name, 0, Root());
parameter(
  'notes',
  1,
  Arg('first', () => Int),
);
method(
  'tags',
  FieldResolver(() => [ContactTag]),
);
method(
  'lists',
  FieldResolver(() => [ContactList]),
);
method(
  'notes',
  FieldResolver(() => NoteConnection),
);
Resolver(() => Contact)(ContactsResolver);

const schema = await buildSchema({ resolvers: [ContactsResolver], validate: false });
const apollo = new ApolloServer({ schema, stopOnTerminationSignals: false });
const { url } = await startStandaloneServer(apollo, {
  context: async ({ req }) => ({ teamId: req.headers['x-team'] }),
  listen: { host: '127.0.0.1', port: Number(process.env.PORT ?? 0) },
});
console.log(JSON.stringify({ port: Number(new URL(url).port) }));
process.once('SIGTERM', async () => {
  await apollo.stop();
  await prisma.$disconnect();
});
