import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv';
import addFormatsModule from 'ajv-formats';
import { openApiDocument } from '../../src/platform/http/index.ts';
import type { RouteSpec } from '../../src/platform/http/index.ts';
import type { ApiAnswer } from '../_util/index.ts';
import type { Loose } from './world.ts';

const addFormats = addFormatsModule as unknown as (ajv: Ajv2020) => void;

interface Described {
  readonly $ref?: string;
  readonly content?: Record<string, { schema: object }>;
}

/** Judges answers by the OpenAPI document alone: the status is listed, the content type too, and its schema holds. */
export class AnswerJudge {
  readonly document: Loose;
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true });
  readonly #compiled = new Map<object, ValidateFunction>();

  constructor(routes: readonly RouteSpec[]) {
    const made = openApiDocument({ routes, version: '0.0.0', serverUrl: 'http://127.0.0.1' });
    this.document = JSON.parse(JSON.stringify(made));
    addFormats(this.#ajv);
  }

  /** What is wrong with the answer; empty: nothing. */
  faults(spec: RouteSpec, answer: ApiAnswer): string[] {
    const operation = this.document.paths[spec.path][spec.method.toLowerCase()];
    const response = this.#resolve(operation.responses[answer.status] as Described | undefined);
    if (!response) return [`status ${answer.status} is not in the document: ${answer.text.slice(0, 300)}`];
    const type = (answer.headers.get('content-type') ?? '').split(';')[0] ?? '';
    const content = response.content?.[type];
    if (!content) return [`content type ${type} of ${answer.status} is not in the document`];
    if (!type.includes('json')) return [];
    const validate = this.#validator(content.schema);
    if (validate(answer.body)) return [];
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  }

  /** What is wrong with a value by a schema of the document. */
  mismatch(schema: object, value: unknown): string[] {
    const validate = this.#validator(schema);
    return validate(value) ? [] : (validate.errors ?? []).map((e) => `${e.instancePath} ${e.message}`);
  }

  #resolve(described: Described | undefined): Described | undefined {
    const name = described?.$ref?.replace('#/components/responses/', '');
    return name === undefined ? described : this.document.components.responses[name];
  }

  #validator(schema: object): ValidateFunction {
    const known = this.#compiled.get(schema);
    if (known) return known;
    const { schemas } = this.document.components;
    // References point into the document: it comes along with each schema.
    const compiled = this.#ajv.compile({ ...schema, components: { schemas } });
    this.#compiled.set(schema, compiled);
    return compiled;
  }
}
