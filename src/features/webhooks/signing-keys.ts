/** Keys remembered; beyond it the one longest unused is asked for again. */
const KEYS_MAX = 1_000;

/** Remembers signing keys by their id: the key of an id never changes, and every attempt needs one. */
export class SigningKeys {
  readonly #ask: (keyId: string) => Promise<string | null>;
  readonly #known = new Map<string, string>();

  constructor(ask: (keyId: string) => Promise<string | null>) {
    this.#ask = ask;
  }

  /** Null: there is no such key; asked for again next time. */
  async get(keyId: string): Promise<string | null> {
    const key = this.#known.get(keyId) ?? (await this.#ask(keyId));
    if (key === null) return null;
    this.#known.delete(keyId);
    this.#known.set(keyId, key);
    if (this.#known.size > KEYS_MAX) this.#known.delete(this.#known.keys().next().value as string);
    return key;
  }
}
