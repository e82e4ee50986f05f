import { defineConfig } from 'vitest/config';

export default defineConfig({
  // What Node itself loads; the bundler's entry would be a second copy, whose types are not those of the libraries.
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/_util/global-setup.ts'],
    pool: 'forks',
    // Modules are loaded once for each worker; tests that wait leave a core to the third.
    isolate: false,
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    teardownTimeout: 20_000,
  },
});
