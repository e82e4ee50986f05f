import type { As, TestApi } from '../_util/api.ts';

/* eslint-disable @typescript-eslint/no-explicit-any */
export interface GraphAnswer {
  readonly status: number;
  readonly data: any;
  readonly errors: any[] | undefined;
  readonly extensions: any;
  /** Of the first error. */
  readonly code: string | undefined;
}

/** Asks the admin over HTTP. */
export async function ask(
  api: TestApi,
  query: string,
  of: { as?: As; variables?: Record<string, unknown>; headers?: Record<string, string> } = {},
): Promise<GraphAnswer> {
  const { as, variables, headers } = of;
  const answer = await api.request('POST', '/graphql', {
    body: { query, ...(variables ? { variables } : {}) },
    ...(as ? { as } : {}),
    ...(headers ? { headers } : {}),
  });
  const { data, errors, extensions } = answer.body ?? {};
  return { status: answer.status, data, errors, extensions, code: errors?.[0]?.extensions?.code };
}

/** Statements that the services of `api` send while `work` runs. */
export async function countStatements(api: TestApi, work: () => Promise<unknown>): Promise<number> {
  const { pool } = api.services.db;
  const query = pool.query.bind(pool);
  let count = 0;
  pool.query = ((...args: Parameters<typeof query>) => {
    count += 1;
    return query(...args);
  }) as typeof pool.query;
  try {
    await work();
  } finally {
    pool.query = query;
  }
  return count;
}
