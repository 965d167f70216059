import type { FetchLike } from '@modelcontextprotocol/client';

/** An answer with an unexpected status; the members are those of the SDK's own error. */
export class HttpStatusError extends Error {
  readonly status: number;
  /** The whole body: it may repeat credentials, which are masked before it is cut. */
  readonly data: { readonly text: string };
  /** The header `WWW-Authenticate`, which says how to authenticate. */
  readonly challenge: string | null;

  constructor({ status, headers }: Response, text: string) {
    super(`HTTP ${status}`);
    this.name = new.target.name;
    this.status = status;
    this.data = { text };
    this.challenge = headers.get('www-authenticate');
  }

  static async of<E extends HttpStatusError>(
    this: new (response: Response, text: string) => E,
    response: Response,
  ): Promise<E> {
    return new this(response, await response.text().catch(() => ''));
  }
}

/** Without a provider the SDK drops the challenge of an answer 401. */
export function withChallenges(fetch: FetchLike): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init);
    if (response.status !== 401) return response;
    throw await HttpStatusError.of(response);
  };
}
