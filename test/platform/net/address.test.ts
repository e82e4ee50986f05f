import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../src/platform/logger/index.ts';
import { createNet, isPublicAddress, TargetRefused } from '../../../src/platform/net/index.ts';
import { PRIVATE_ADDRESSES, PUBLIC_ADDRESSES, REFUSED_URLS } from './vectors.ts';

const net = createNet({ allowPrivateTargets: false, logger: silentLogger });

describe('addresses', () => {
  it.each(PRIVATE_ADDRESSES)('%s is not public', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each(PUBLIC_ADDRESSES)('%s is public', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each(['', 'example.com', '1.2.3', '1.2.3.4.5', '[2606:4700::1111]', '1.2.3.4 '])(
    '%j is no address',
    (text) => {
      expect(isPublicAddress(text)).toBe(false);
    },
  );
});

describe('addresses in a URL', () => {
  it.each(REFUSED_URLS)('%s is refused: %s', (url, reason) => {
    try {
      net.checkUrlSyntax(url);
    } catch (error) {
      expect(error).toBeInstanceOf(TargetRefused);
      expect((error as TargetRefused).reason).toBe(reason);
      return;
    }
    throw new Error('was taken');
  });

  it.each([
    'https://example.com/hook?a=b#c',
    'https://example.com.:8443/',
    'https://8.8.8.8/',
    'https://[2606:4700:4700::1111]:8443/hook',
    'https://localhost.example.com/',
    'https://xn--bcher-kva.example/',
    'https://bücher.example/',
  ])('%s is taken', (url) => {
    expect(() => net.checkUrlSyntax(url)).not.toThrow();
  });

  it('takes http and private addresses in development, but never credentials', () => {
    const development = createNet({ allowPrivateTargets: true, logger: silentLogger });
    expect(() => development.checkUrlSyntax('http://127.0.0.1:9000/hook')).not.toThrow();
    expect(() => development.checkUrlSyntax('http://localhost/hook')).not.toThrow();
    expect(() => development.checkUrlSyntax('http://user:pw@127.0.0.1/')).toThrow(TargetRefused);
    expect(() => development.checkUrlSyntax('ftp://127.0.0.1/')).toThrow(TargetRefused);
  });

  it('never repeats the address in its message', () => {
    expect(() => net.checkUrlSyntax('https://user:secret@example.com/')).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('secret') as string }) as Error,
    );
  });
});
