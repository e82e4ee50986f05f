/**
 * A refusal of a plan or verification gate, which the contract shows in a shape of its own (interface.md, Errors,
 * Format): 403 with `{error, message}`, on the email plan gate also `feature`. Every other error is a Problem.
 */
export class Refusal extends Error {
  readonly status = 403;
  /** What clients branch on, such as `trial_feature_blocked`. */
  readonly error: string;
  readonly feature: string | undefined;

  constructor(error: string, message: string, feature?: string) {
    super(message);
    this.name = 'Refusal';
    this.error = error;
    this.feature = feature;
  }
}
