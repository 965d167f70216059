import type { JsonValue } from '../../kernel/json/index.js';

/** An approval that covers later calls. Wire format. */
export interface ApprovalReference {
  readonly scope: 'run' | 'session';
  readonly approval_id: string;
}

/** An answer to a request. */
export type Verdict =
  /** `arguments` is JSON text that replaces the call's arguments. With `scope` later calls are covered, too. */
  | ({ readonly kind: 'approve'; readonly arguments?: string } & Partial<ApprovalReference>)
  | { readonly kind: 'deny'; readonly reason?: string }
  | { readonly kind: 'input'; readonly value: JsonValue }
  | { readonly kind: 'settle'; readonly outcome: 'retry' }
  | { readonly kind: 'settle'; readonly outcome: 'succeeded'; readonly result: JsonValue }
  | { readonly kind: 'settle'; readonly outcome: 'failed'; readonly error: string }
  | { readonly kind: 'release' }
  | { readonly kind: 'expire' }
  /** The call's child run has ended. */
  | { readonly kind: 'join' };

/** A recorded answer: step `answer:<request id>` with the verdict's kind as subject. */
export type Decision = Verdict & {
  /** The id of the principal who decided; `null` for an expiry or a decision by the system. */
  readonly by: string | null;
  /** Epoch ms. */
  readonly at: number;
};
