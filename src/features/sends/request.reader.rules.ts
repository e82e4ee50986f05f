import type { Fault } from './request.type.ts';

/** Reads fields of a body one by one and keeps what is wrong with them; null counts as left out. */
export class RequestReader {
  readonly faults: Fault[] = [];
  readonly #body: Readonly<Record<string, unknown>>;

  constructor(body: Readonly<Record<string, unknown>>) {
    this.#body = body;
  }

  value(name: string): unknown {
    return Object.hasOwn(this.#body, name) ? this.#body[name] : undefined;
  }

  has(name: string): boolean {
    const value = this.value(name);
    return value !== undefined && value !== null;
  }

  /** The named fields that are there. */
  present(names: readonly string[]): string[] {
    return names.filter((name) => this.has(name));
  }

  /** 3030 unless one of them is there. */
  requireOne(...names: readonly string[]): void {
    if (this.present(names).length > 0) return;
    this.faults.push({ code: 3030, detail: `${names.join(' or ')} is required.` });
  }

  /** 3029. */
  refuse(name: string, what: string): null {
    this.faults.push({ code: 3029, detail: `${name} ${what}.` });
    return null;
  }

  /** A text that `isOne` accepts. */
  read(name: string, what: string, isOne: (text: string) => boolean): string | null {
    if (!this.has(name)) return null;
    const value = this.value(name);
    if (typeof value === 'string' && isOne(value)) return value;
    return this.refuse(name, `must be ${what}`);
  }

  /** Characters are code points. */
  text(name: string, lengthMax: number): string | null {
    return this.read(name, `a text of 1 to ${lengthMax} characters`, (text) => {
      return text.trim() !== '' && (text.length <= lengthMax || [...text].length <= lengthMax);
    });
  }

  /** An id is any text: one that names nothing is unknown, not malformed. */
  id(name: string, lengthMax: number): string | null {
    return this.text(name, lengthMax);
  }

  object(name: string): Record<string, unknown> | null {
    if (!this.has(name)) return null;
    const value = this.value(name);
    const isObject = typeof value === 'object' && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : this.refuse(name, 'must be an object');
  }

  /** A list of texts; none when it is left out. */
  texts(name: string, bounds: { itemsMax: number; lengthMax: number }): string[] {
    if (!this.has(name)) return [];
    const value = this.value(name);
    const isFine =
      Array.isArray(value) &&
      value.length <= bounds.itemsMax &&
      value.every((item) => typeof item === 'string' && item !== '' && item.length <= bounds.lengthMax);
    if (isFine) return value as string[];
    this.refuse(name, `must be a list of at most ${bounds.itemsMax} texts`);
    return [];
  }
}
