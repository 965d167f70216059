import type { JsonValue } from '../../common/index.js';

/** How a request is answered. */
export type Verdict =
  /** `arguments` is JSON text: what the call is made with instead. */
  | { readonly kind: 'approve'; readonly arguments?: string }
  | { readonly kind: 'deny'; readonly reason?: string }
  | { readonly kind: 'input'; readonly value: JsonValue }
  | { readonly kind: 'settle'; readonly outcome: 'retry' }
  | { readonly kind: 'settle'; readonly outcome: 'succeeded'; readonly result: JsonValue }
  | { readonly kind: 'settle'; readonly outcome: 'failed'; readonly error: string }
  | { readonly kind: 'expire' }
  /** The run has ended that the call is. */
  | { readonly kind: 'join' };

/** An answer as it is recorded, in a step `answer:<request id>` with the verdict's kind as subject. */
export type Decision = Verdict & {
  /** The id of the principal who decided; `null` when time did. */
  readonly by: string | null;
  /** Epoch ms. */
  readonly at: number;
};
