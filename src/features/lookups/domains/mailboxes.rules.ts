import { invalidField } from '../../../kernel/text.ts';
import { domainName } from './domains.rules.ts';

/** Mailboxes of one account. */
export const MAILBOXES_MAX = 1_000;
/** RFC 5321, 4.5.3.1. */
const LOCAL_LENGTH_MAX = 64;
const ADDRESS_LENGTH_MAX = 254;
/** RFC 5322, 3.2.3: a dot-atom; quoted forms are not taken. */
const LOCAL = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;

/** An address in the form it is kept in, with its domain in lower case. @throws Problem validation-error */
export function mailboxAddress(text: string): { address: string; domain: string } {
  const at = text.lastIndexOf('@');
  const local = text.slice(0, at);
  if (at < 1 || local.length > LOCAL_LENGTH_MAX || text.length > ADDRESS_LENGTH_MAX || !LOCAL.test(local)) {
    throw invalidField('address', 'address must be an email address such as news@mail.example.com.');
  }
  const domain = domainName(text.slice(at + 1));
  return { address: `${local.toLowerCase()}@${domain}`, domain };
}
