import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Cipher, CipherError } from '../../src/platform/db/index.ts';

const first = randomBytes(32);
const second = randomBytes(32);

describe('Cipher', () => {
  it('opens what it wrote, and writes the same text differently each time', () => {
    const cipher = new Cipher(first);
    const [a, b] = [cipher.encrypt('schöner Schlüssel', 'x:1'), cipher.encrypt('schöner Schlüssel', 'x:1')];
    expect(a).not.toBe(b);
    expect([cipher.decrypt(a, 'x:1'), cipher.decrypt(b, 'x:1')]).toEqual([
      'schöner Schlüssel',
      'schöner Schlüssel',
    ]);
    expect(cipher.decrypt(cipher.encrypt('', 'x:1'), 'x:1')).toBe('');
  });

  it('opens under a previous key and says which texts are not under the current one', () => {
    const old = new Cipher(first).encrypt('secret', 'x:1');
    const rotated = new Cipher(second, [first]);
    expect(rotated.decrypt(old, 'x:1')).toBe('secret');
    expect(rotated.isCurrent(old)).toBe(false);
    expect(rotated.isCurrent(rotated.encrypt('secret', 'x:1'))).toBe(true);
    expect(() => new Cipher(second).decrypt(old, 'x:1')).toThrow(/MASTER_KEY_PREVIOUS/);
  });

  it('does not open in another context', () => {
    const cipher = new Cipher(first);
    expect(() => cipher.decrypt(cipher.encrypt('secret', 'x:1'), 'x:2')).toThrow(CipherError);
  });

  it('does not open a text changed at any place, or cut at any place', () => {
    const cipher = new Cipher(first);
    const text = cipher.encrypt('secret', 'x:1');
    const start = text.lastIndexOf('.') + 1;
    const body = Buffer.from(text.slice(start), 'base64url');
    for (let at = 0; at < body.length; at += 1) {
      const changed = Buffer.from(body);
      changed[at] = (changed[at] ?? 0) ^ 1;
      const whole = text.slice(0, start) + changed.toString('base64url');
      expect(() => cipher.decrypt(whole, 'x:1')).toThrow(CipherError);
    }
    for (let length = 0; length < text.length; length += 1) {
      expect(() => cipher.decrypt(text.slice(0, length), 'x:1')).toThrow(CipherError);
    }
  });

  it('takes no key that is short or all zeros, and says nothing of a key in its name', () => {
    expect(() => new Cipher(Buffer.alloc(31, 1))).toThrow(CipherError);
    expect(() => new Cipher(Buffer.alloc(32))).toThrow(CipherError);
    expect(new Cipher(first).keyId).toMatch(/^[0-9a-f]{12}$/);
    expect(first.toString('hex')).not.toContain(new Cipher(first).keyId);
  });
});
