import { describe, expect, it } from 'vitest';
import type { Caller, Scope } from '../../src/kernel/caller.ts';
import { isScope, requireScope, SCOPES } from '../../src/kernel/caller.ts';
import { Problem } from '../../src/kernel/problem.ts';

const callerWith = (...scopes: Scope[]): Caller => ({
  kind: 'api_key',
  teamId: '7b0f0d3e-6a53-4f5a-8a6e-1f6c2a0c9d11',
  userId: '0e6f5a1c-2b7d-4c53-9a52-4a8f3c1d7e22',
  scopes: new Set(scopes),
  operator: false,
  role: null,
  credentialId: 'key',
});

describe('scopes', () => {
  it('lets a caller pass who holds any one of the accepted scopes', () => {
    expect(() => requireScope(callerWith('balance:read'), 'account:write', 'balance:read')).not.toThrow();
  });

  it('refuses a caller who holds none, and names the accepted ones', () => {
    const refused = (): void => requireScope(callerWith('rvm:send'), 'account:write', 'balance:read');
    expect(refused).toThrow(Problem);
    expect(refused).toThrow(/account:write, balance:read/);
  });

  it('knows the 28 scopes of the contract and no other word', () => {
    expect(SCOPES).toHaveLength(28);
    expect(new Set(SCOPES).size).toBe(28);
    expect(isScope('dnc:write')).toBe(true);
    expect(isScope('dnc:admin')).toBe(false);
    expect(isScope('__proto__')).toBe(false);
  });
});
