import { Type } from '@sinclair/typebox';
import { route } from '../../../platform/http/index.ts';
import type { RouteSpec } from '../../../platform/http/index.ts';
import { NAME_LENGTH_MAX } from '../input.rules.ts';
import { presentBrand } from './brands.present.ts';
import type { BrandsService } from './brands.service.ts';

const BrandData = Type.Object({
  brand_id: Type.String(),
  company_name: Type.String(),
  dba_name: Type.Union([Type.String(), Type.Null()]),
  registered: Type.Boolean({ description: 'The carrier knows the brand.' }),
  api_allowed: Type.Boolean({ description: 'Sends may name the brand.' }),
  texting_campaign_status: Type.Union(
    ['none', 'pending', 'approved', 'rejected'].map((status) => Type.Literal(status)),
  ),
  created_at: Type.Integer({ description: 'Epoch ms.' }),
  updated_at: Type.Integer({ description: 'Epoch ms.' }),
});

const companyName = Type.String({ minLength: 1, maxLength: NAME_LENGTH_MAX });
const dbaName = Type.Union([Type.String({ maxLength: NAME_LENGTH_MAX }), Type.Null()]);

/** Brands (supplement 6). */
export function brandsRoutes({ brands }: { brands: BrandsService }): RouteSpec[] {
  return [
    route({
      ...{ method: 'GET', path: '/automation/public/brands', operationId: 'listBrands', tag: 'Brands' },
      summary: 'All brands, newest first',
      scopes: ['numbers:read'],
      data: Type.Array(BrandData),
      handler: async ({ caller }) => (await brands.list(caller)).map(presentBrand),
    }),
    route({
      ...{ method: 'POST', path: '/automation/public/brands', operationId: 'createBrand', tag: 'Brands' },
      summary: 'Make a brand',
      description:
        'Without a connected carrier the built-in simulator registers it and approves its texting campaign at once.',
      scopes: ['numbers:write'],
      body: Type.Object({ company_name: companyName, dba_name: Type.Optional(dbaName) }),
      status: 201,
      data: BrandData,
      errors: ['conflict'],
      example: { body: { company_name: 'Example Ltd', dba_name: 'Example' } },
      handler: async ({ caller, body }) =>
        presentBrand(await brands.create(caller, { companyName: body.company_name, dbaName: body.dba_name })),
    }),
    route({
      ...{ method: 'PUT', path: '/automation/public/brands/{brand_id}', tag: 'Brands' },
      operationId: 'updateBrand',
      summary: 'Rename a brand',
      description: 'A new company name is registered anew.',
      scopes: ['numbers:write'],
      params: Type.Object({ brand_id: Type.String() }),
      body: Type.Object({ company_name: Type.Optional(companyName), dba_name: Type.Optional(dbaName) }),
      data: BrandData,
      errors: ['not-found'],
      example: { body: { dba_name: 'Example Services' } },
      handler: async ({ caller, params, body }) =>
        presentBrand(
          await brands.update(caller, params.brand_id, {
            ...(body.company_name === undefined ? {} : { companyName: body.company_name }),
            ...(body.dba_name === undefined ? {} : { dbaName: body.dba_name }),
          }),
        ),
    }),
  ];
}
