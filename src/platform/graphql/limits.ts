import {
  getNamedType,
  GraphQLError,
  isCompositeType,
  isInterfaceType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  OperationTypeNode,
  parse,
  visit,
} from 'graphql';
import type {
  DocumentNode,
  FieldNode,
  FragmentDefinitionNode,
  GraphQLField,
  GraphQLNamedType,
  GraphQLSchema,
  OperationDefinitionNode,
  SelectionSetNode,
} from 'graphql';
import { Problem } from '../../kernel/problem.ts';
import { isStorableText } from '../http/index.ts';

/** Limits of one document (admin-graphql.md, Conventions). */
export const DEPTH_MAX = 8;
export const COST_MAX = 5_000;
export const ALIASES_MAX = 15;
export const TOKENS_MAX = 1_000;
/** Of a request's body, and of a message over the socket. */
export const DOCUMENT_BYTES_MAX = 100_000;
/** Fields of a document with its fragments spread out, whatever they cost: the work of validation and merging. */
const FIELDS_MAX = 5_000;
/** The same field said again in one selection: merging compares each with each. */
const REPEATS_MAX = 15;
/** Objects assumed in a list that has no `first`. */
const LIST_SIZE_ASSUMED = 10;
const FIRST_ASSUMED = 100;
/** More is refused by every list anyway. */
const FIRST_COUNTED_MAX = 10_000;
const MUTATION_COST = 10;
const TOTAL_COUNT_COST = 10;
const INTROSPECTION_COST = 100;

/** A document over its budget; what it asked for is told beside the error. */
export class CostExceeded extends Problem {
  readonly requested: number;

  constructor(requested: number) {
    super('validation-error', `The query costs ${requested}; ${COST_MAX} are available.`);
    this.requested = requested;
  }
}

export interface Request {
  readonly query: string;
  readonly operationName?: string | null;
  readonly variables?: Readonly<Record<string, unknown>> | null;
}

export interface Inspected {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  /** Objects it may load, roughly: each object 1, times the rows of the lists around it. */
  readonly cost: number;
  readonly isIntrospection: boolean;
}

/**
 * Judges a document before anything is done for it, in time linear in its size: fragments are measured once each.
 * @throws Problem validation-error: it does not parse, has no such operation, or is beyond a limit
 */
export function inspect(schema: GraphQLSchema, request: Request): Inspected {
  const document = parsed(request.query);
  checkTexts(request.query, document);
  const operation = operationOf(document, request.operationName);
  checkAliases(document);
  const root = schema.getRootType(operation.operation);
  const meter = new Meter(document, request.variables ?? {});
  const { cost, depth } = meter.measure(operation.selectionSet, root, 1);
  if (depth > DEPTH_MAX) refuse(`The query nests deeper than ${DEPTH_MAX}.`);
  const total = cost + (operation.operation === OperationTypeNode.MUTATION ? MUTATION_COST : 0);
  if (total > COST_MAX) throw new CostExceeded(total);
  return { document, operation, cost: total, isIntrospection: meter.isIntrospection };
}

const refuse = (detail: string): never => {
  throw new Problem('validation-error', detail);
};

function parsed(query: string): DocumentNode {
  if (Buffer.byteLength(query) > DOCUMENT_BYTES_MAX) {
    throw new Problem('payload-too-large', `A document has at most ${DOCUMENT_BYTES_MAX} bytes.`);
  }
  try {
    return parse(query, { maxTokens: TOKENS_MAX, noLocation: false });
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    return refuse(error.message);
  }
}

/** NUL and halves of surrogate pairs can only come by an escape here; the rest of the request is judged by its JSON. */
function checkTexts(query: string, document: DocumentNode): void {
  if (!query.includes('\\u')) return;
  visit(document, {
    StringValue: (node) => {
      if (!isStorableText(node.value)) refuse('A text holds NUL or half of a surrogate pair.');
    },
  });
}

function operationOf(document: DocumentNode, name: string | null | undefined): OperationDefinitionNode {
  const operations = document.definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
  const named = name ? operations.filter((node) => node.name?.value === name) : operations;
  const [only, ...others] = named;
  if (!only) return refuse(name ? 'There is no operation of this name.' : 'There is no operation.');
  if (others.length > 0) return refuse('operationName must say which operation to run.');
  return only;
}

function checkAliases(document: DocumentNode): void {
  let aliases = 0;
  visit(document, {
    Field: (node) => {
      if (node.alias && (aliases += 1) > ALIASES_MAX)
        refuse(`The query has more than ${ALIASES_MAX} aliases.`);
    },
  });
}

interface Measure {
  readonly cost: number;
  readonly depth: number;
  readonly fields: number;
}

/** Measures selections, each fragment once for each number of rows it is asked for. */
class Meter {
  readonly #fragments = new Map<string, FragmentDefinitionNode>();
  readonly #variables: Readonly<Record<string, unknown>>;
  readonly #measured = new Map<string, Measure>();
  readonly #open = new Set<string>();
  isIntrospection = false;

  constructor(document: DocumentNode, variables: Readonly<Record<string, unknown>>) {
    this.#variables = variables;
    for (const node of document.definitions) {
      if (node.kind === Kind.FRAGMENT_DEFINITION) this.#fragments.set(node.name.value, node);
    }
  }

  /** `rows`: what `nodes` and `edges` of the connection at hand will hold. */
  measure(set: SelectionSetNode, type: GraphQLNamedType | null | undefined, rows: number): Measure {
    let sum: Measure = { cost: 0, depth: 0, fields: 0 };
    const said = new Map<string, number>();
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) {
        const key = selection.alias?.value ?? selection.name.value;
        const times = (said.get(key) ?? 0) + 1;
        if (times > REPEATS_MAX) refuse(`A field is repeated more than ${REPEATS_MAX} times.`);
        said.set(key, times);
        sum = plus(sum, this.#field(selection, type, rows));
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        sum = plus(sum, this.measure(selection.selectionSet, type, rows));
      } else {
        sum = plus(sum, this.#spread(selection.name.value, type, rows));
      }
      if (sum.fields > FIELDS_MAX) refuse('The query spreads out to too many fields.');
    }
    return sum;
  }

  #spread(name: string, type: GraphQLNamedType | null | undefined, rows: number): Measure {
    const fragment = this.#fragments.get(name);
    if (!fragment) return refuse('The query spreads a fragment that it does not have.');
    if (this.#open.has(name)) return refuse('A fragment spreads itself.');
    const key = `${rows} ${name}`;
    const known = this.#measured.get(key);
    if (known) return known;
    this.#open.add(name);
    const made = this.measure(fragment.selectionSet, type, rows);
    this.#open.delete(name);
    this.#measured.set(key, made);
    return made;
  }

  #field(node: FieldNode, parent: GraphQLNamedType | null | undefined, rows: number): Measure {
    const name = node.name.value;
    if (name === '__schema' || name === '__type') {
      this.isIntrospection = true;
      return { cost: INTROSPECTION_COST, depth: 1, fields: 1 };
    }
    const isObject = isObjectType(parent) || isInterfaceType(parent);
    const field = isObject ? parent.getFields()[name] : undefined;
    const type = field ? getNamedType(field.type) : null;
    const own = type && !isLeafType(type) ? 1 : name === 'totalCount' ? TOTAL_COUNT_COST : 0;
    if (!node.selectionSet) return { cost: own, depth: 1, fields: 1 };
    const first = field ? this.#first(node, field) : 1;
    const inner = this.measure(node.selectionSet, isCompositeType(type) ? type : null, first);
    const times = field && isList(field) ? (isConnection(parent) ? rows : first) : 1;
    return { cost: times * (own + inner.cost), depth: inner.depth + 1, fields: inner.fields + 1 };
  }

  /** What `first` says, by a variable too; the most when it cannot be told. */
  #first(node: FieldNode, field: GraphQLField<unknown, unknown>): number {
    const argument = field.args.find((arg) => arg.name === 'first');
    if (!argument) return LIST_SIZE_ASSUMED;
    const value = node.arguments?.find((given) => given.name.value === 'first')?.value;
    const first: unknown =
      value?.kind === Kind.INT
        ? Number(value.value)
        : value?.kind === Kind.VARIABLE
          ? this.#variables[value.name.value]
          : argument.defaultValue;
    return typeof first === 'number' && first >= 1 ? Math.min(first, FIRST_COUNTED_MAX) : FIRST_ASSUMED;
  }
}

const plus = (a: Measure, b: Measure): Measure => ({
  cost: a.cost + b.cost,
  depth: Math.max(a.depth, b.depth),
  fields: a.fields + b.fields,
});

const isConnection = (type: GraphQLNamedType | null | undefined): boolean =>
  type?.name.endsWith('Connection') ?? false;

const isList = (field: GraphQLField<unknown, unknown>): boolean =>
  isListType(isNonNullType(field.type) ? field.type.ofType : field.type);
