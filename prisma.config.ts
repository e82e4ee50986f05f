import { defineConfig } from 'prisma/config';

/** Prisma reads the schema only: migrations are run by `tonegate migrate` (src/platform/db/migrate.ts). */
export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
});
