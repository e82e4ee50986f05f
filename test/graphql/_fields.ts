import { getNamedType, isEnumType, isInputObjectType, isLeafType, isListType, isNonNullType } from 'graphql';
import type { GraphQLArgument, GraphQLField, GraphQLInputType, GraphQLSchema } from 'graphql';

export type RootKind = 'query' | 'mutation';

export interface RootField {
  readonly kind: RootKind;
  readonly name: string;
  readonly field: GraphQLField<unknown, unknown>;
  /** Those that its description names, any one suffices; empty: any credential. */
  readonly scopes: readonly string[];
  readonly isForOperators: boolean;
}

/** Every root field of queries and mutations, with what its description says of who may call it. */
export function rootFields(schema: GraphQLSchema): RootField[] {
  const of = (kind: RootKind): RootField[] => {
    const type = kind === 'query' ? schema.getQueryType() : schema.getMutationType();
    return Object.values(type?.getFields() ?? {}).map((field) => {
      const text = field.description ?? '';
      const named = /(?:Scope |Operators with )((?:(?:, | or )?[a-z]+:[a-z]+)+)/.exec(text)?.[1] ?? '';
      const scopes = named.match(/[a-z]+:[a-z]+/g) ?? [];
      const isForOperators = /Operators (only|with)/.test(text);
      if (scopes.length === 0 && !isForOperators && !/Any credential/.test(text)) {
        throw new Error(`${field.name} does not say who may call it`);
      }
      return { kind, name: field.name, field, scopes, isForOperators };
    });
  };
  return [...of('query'), ...of('mutation')];
}

/** Values by argument or input field, `field.argument` first; what is required and not given is made up by its type. */
export type Given = Readonly<Record<string, unknown>>;

/** A document that calls one field with variables for what it needs. */
export function callOf({ kind, name, field }: RootField, given: Given = {}) {
  const wanted = field.args.filter((arg) => isNonNullType(arg.type) || `${name}.${arg.name}` in given);
  const variables = Object.fromEntries(wanted.map((arg) => [arg.name, valueOf(arg, name, given)]));
  const declared = wanted.map((arg) => `$${arg.name}: ${String(arg.type)}`).join(', ');
  const passed = wanted.map((arg) => `${arg.name}: $${arg.name}`).join(', ');
  const selection = isLeafType(getNamedType(field.type)) ? '' : '{ __typename }';
  const query = `${kind} ${declared ? `(${declared})` : ''} { ${name}${passed ? `(${passed})` : ''} ${selection} }`;
  return { query, variables };
}

function valueOf(arg: GraphQLArgument, name: string, given: Given): unknown {
  const own = `${name}.${arg.name}`;
  return own in given ? given[own] : made(arg.type, { path: name, given, name: arg.name });
}

const SAMPLES: Record<string, unknown> = {
  first: 1,
  scheduledAt: '2099-01-01T00:00:00Z',
  phoneNumber: '+12025550123',
  email: 'ada@example.com',
  password: 'a long enough one',
  hookUrl: 'https://example.com/hook',
  eventTypes: ['contact.*'],
  domain: 'mail.example.com',
  address: 'ada@mail.example.com',
  productCode: 'detection',
  amount: '1.00',
  price: '0.01',
  fields: ['first_name', 'phone'],
  values: [['Ada', '+12025550123']],
  kind: 'SIMULATOR',
};

function made(type: GraphQLInputType, of: { path: string; given: Given; name: string }): unknown {
  const inner = isNonNullType(type) ? type.ofType : type;
  if (isInputObjectType(inner)) {
    const fields = Object.values(inner.getFields());
    const wanted = fields.filter(
      (field) => isNonNullType(field.type) || `${of.path}.${field.name}` in of.given,
    );
    return Object.fromEntries(
      wanted.map((field) => {
        const own = `${of.path}.${field.name}`;
        const value = own in of.given ? of.given[own] : made(field.type, { ...of, name: field.name });
        return [field.name, value];
      }),
    );
  }
  if (of.name in SAMPLES) return SAMPLES[of.name];
  if (isListType(inner)) return [made(inner.ofType, of)];
  if (isEnumType(inner)) return inner.getValues()[0]?.name;
  const scalar = getNamedType(inner).name;
  if (scalar === 'ID') return '00000000-0000-4000-8000-000000000000';
  if (scalar === 'Boolean') return true;
  if (scalar === 'DateTime') return '2026-01-01T00:00:00Z';
  if (scalar === 'Int') return 1;
  return 'A text';
}
