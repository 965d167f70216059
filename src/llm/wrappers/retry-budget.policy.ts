const MAX_TOKENS = 50;
const PER_REQUEST = 0.2;
const PER_SUCCESS = 1;

/**
 * Limits the retries to a provider: a retry costs a token, a request earns a fifth of one, a success earns one, and at most
 * 50 are saved. In an outage the retries are at most a fifth of the requests, so that they do not prolong it.
 */
export class RetryBudget {
  private tokens = MAX_TOKENS;

  request(): void {
    this.earn(PER_REQUEST);
  }

  success(): void {
    this.earn(PER_SUCCESS);
  }

  /** Takes the token of a retry. @returns whether there was one */
  take(): boolean {
    if (this.tokens < 1) return false;
    this.tokens--;
    return true;
  }

  private earn(tokens: number): void {
    this.tokens = Math.min(this.tokens + tokens, MAX_TOKENS);
  }
}
