import type { ProblemCode } from '../../kernel/problem.ts';

/** What each error type means and what to do about it, as its own address tells it. */
export const PROBLEM_MEANINGS: Readonly<Record<ProblemCode, string>> = {
  'validation-error':
    'The request is not valid. `details.field` names the field, `details.message` what it must be.',
  unauthorized: 'The credential is missing, wrong, deleted or expired.',
  'payment-required':
    'The balance and the plan are used up, or the subscription is not paid; `details.dunning_tier` tells which tier.',
  forbidden: 'The account, its plan or the role of the user does not allow this.',
  'insufficient-scope': 'The credential holds none of the scopes that this takes; the detail names them.',
  trial_feature_blocked: 'This is not part of the trial.',
  'team-not-verified': 'The account must be verified first.',
  'byoc-required': 'Building Blocks must be enabled for the account first.',
  'not-found': 'It does not exist, was deleted, or belongs to another account.',
  'method-not-allowed': 'The path does not have this method; the Allow header lists those it has.',
  conflict: 'The current state does not allow this.',
  'payload-too-large': 'The body or file is too large.',
  'unsupported-media-type': 'The content type, the encoding or the kind of file is not taken.',
  unprocessable: 'The request is well formed and cannot be processed.',
  'too-many-requests':
    'Too many requests to this route, or too many wrong credentials. Try again with growing pauses.',
  'server-error': 'A fault of the service. It is logged under the request id.',
  'service-unavailable': 'The service cannot do this now. Try again with growing pauses.',
};
