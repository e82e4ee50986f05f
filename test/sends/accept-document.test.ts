import { describe, expect, it } from 'vitest';
import { legacyRoutes } from '../../src/features/legacy/index.ts';
import type { LegacyServices } from '../../src/features/legacy/index.ts';
import type { SendRequests, SendsQueryService } from '../../src/features/sends/index.ts';
import { sendRoutes, sendsRoutes } from '../../src/features/sends/index.ts';
import { openApiDocument } from '../../src/platform/http/index.ts';

/** Routes are described without anything behind them. */
const nothing = {} as unknown;
const routes = [
  ...sendRoutes({ sendRequests: nothing as SendRequests }),
  ...sendsRoutes({ sendsQuery: nothing as SendsQueryService }),
  ...legacyRoutes(nothing as LegacyServices),
];
const { paths, components } = openApiDocument({
  ...{ routes, version: '1', serverUrl: 'https://calls.example.com' },
}) as any; // eslint-disable-line @typescript-eslint/no-explicit-any

describe('the OpenAPI document', () => {
  it.each([
    ['/rvm', 'rvm:send'],
    ['/sms', 'sms:send'],
    ['/voice-broadcast', 'voice:send'],
    ['/ai-broadcast', 'voice:send'],
  ])('describes %s with its scope, its answers, its header and an example', (path, scope) => {
    const { post } = paths[path];
    expect(post['x-scopes']).toEqual([scope]);
    expect(post.security).toEqual([{ key: [scope], secret: [scope] }, { bearer: [scope] }]);
    expect(Object.keys(post.responses)).toEqual(['202', '400', '401', '413', '429', '500', '503']);
    expect(post.parameters).toEqual([
      expect.objectContaining({ name: 'Idempotency-Key', in: 'header', required: false }),
    ]);
    const { schema, example } = post.requestBody.content['application/json'];
    expect(example.to).toMatch(/^\+1555/);
    expect(Object.keys(schema.properties)).toEqual(expect.arrayContaining(Object.keys(example as object)));
    expect(post.responses['202'].content['application/json'].schema.properties).toHaveProperty('message_id');
  });

  it('describes the credential of version 1 on its five routes alone', () => {
    expect(components.securitySchemes.team).toMatchObject({ in: 'header', name: 'x-team-id' });
    const ours = Object.entries(paths).flatMap(([path, methods]) =>
      Object.values(methods as object).some(({ security }) => 'team' in security[0]) ? [path] : [],
    );
    expect(ours).toEqual(['/v1/rvm', '/v1/sms', '/v1/brand', '/v1/list', '/v1/list/{list_id}/contacts']);
    expect(paths['/v1/sms'].post.security).toEqual([{ team: ['sms:send'], secret: ['sms:send'] }]);
  });
});
