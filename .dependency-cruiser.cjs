/** The floors of the house: main → features → platform → kernel, and one place per library. */
const only = (name, lib, places) => ({
  name,
  severity: 'error',
  from: { path: '^src', pathNot: places },
  to: { path: `(^|node_modules/)${lib}(/|$)` },
});

/** Declared edges between slices; everything else is an error. Acyclic. */
const sliceEdges = [
  ['credentials', 'accounts'],
  ['detection', 'accounts'],
  ['detection', 'credentials'],
  ['detection', 'webhooks'],
];

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'kernel-is-the-ground',
      severity: 'error',
      from: { path: '^src/kernel' },
      to: { path: '^src/(main|features|platform)|node_modules' },
    },
    {
      name: 'platform-knows-no-feature',
      severity: 'error',
      from: { path: '^src/platform' },
      to: { path: '^src/(main|features)' },
    },
    {
      name: 'features-know-no-main',
      severity: 'error',
      from: { path: '^src/features' },
      to: { path: '^src/main' },
    },
    {
      name: 'slices-meet-at-index',
      severity: 'error',
      from: { path: '^src/features/([^/]+)/' },
      to: { path: '^src/features/([^/]+)/', pathNot: ['^src/features/$1/', '^src/features/[^/]+/index.ts$'] },
    },
    ...[...new Set(sliceEdges.map(([from]) => from))].map((from) => ({
      name: `edges-of-${from}`,
      severity: 'error',
      from: { path: `^src/features/${from}/` },
      to: {
        path: '^src/features/',
        pathNot: [from, ...sliceEdges.filter(([f]) => f === from).map(([, to]) => to)].map(
          (s) => `^src/features/${s}/`,
        ),
      },
    })),
    {
      name: 'slices-without-edges',
      severity: 'error',
      from: { path: '^src/features/(accounts|webhooks)/' },
      to: { path: '^src/features/', pathNot: '^src/features/$1/' },
    },
    {
      name: 'stores-only-from-their-service',
      severity: 'error',
      from: { path: '^src/features', pathNot: '\\.(service|store|jobs)\\.ts$|index\\.ts$' },
      to: { path: '\\.store\\.ts$', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'rules-are-pure',
      severity: 'error',
      from: { path: '\\.rules\\.ts$' },
      to: {
        path: '^src/platform|^(node:)?(fs|net|http|child_process|dns)$',
        dependencyTypesNot: ['type-only'],
      },
    },
    only('uws-in-socket', 'uws-node', '^src/platform/socket'),
    only('ws-in-socket', 'ws', '^src/(platform/socket|main/cli)'),
    only('fastify-in-http', 'fastify', '^src/platform/http|\\.routes\\.ts$'),
    only('bullmq-in-queue', 'bullmq', '^src/platform/queue'),
    only('ioredis-in-queue', 'ioredis', '^src/platform/queue'),
    only('undici-in-net', 'undici', '^src/platform/net'),
    only('prisma-in-stores', '@prisma', '^src/platform/db|\\.store\\.ts$'),
    only('pg-in-db', 'pg', '^src/platform/db'),
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    exclude: { path: 'src/platform/db/generated' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.js', '.json'],
      conditionNames: ['import', 'node', 'default'],
    },
  },
};
