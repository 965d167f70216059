import type { RunFailure, RunFinishReason } from '../run/event/index.js';

/** How a consumer handles an incomplete outcome. */
export type OnIncomplete = 'fail' | 'accept';

/** Why an outcome is incomplete. */
export type IncompleteReason = Exclude<RunFinishReason, 'stop'>;

/** An outcome, with the consumer's words for error messages. */
export interface ConsumedOutcome {
  readonly finish_reason: RunFinishReason;
  /** The subject of the error message: `The agent "support"`. */
  readonly subject: string;
  /** Changes that avoid the outcome, by its reason; such as `raise "limits.maxIterations"`. */
  readonly remedies?: Partial<Record<IncompleteReason, string>>;
}

/** The use of an outcome: complete; marked, so that the consumer's outcome is incomplete too; or a failure. */
export type OutcomeUse =
  | { readonly kind: 'whole' }
  | { readonly kind: 'marked'; readonly finish_reason: IncompleteReason }
  | { readonly kind: 'failed'; readonly failure: RunFailure };

const CAUSES: Readonly<Record<IncompleteReason, string>> = {
  length: 'the reply was cut off at the limit of tokens',
  content_filter: 'the content filter of the provider stopped the reply',
  iteration_limit: 'the limit of iterations was reached before the answer',
  timeout: 'the time limit was reached before the answer',
  cancelled: 'it was cancelled before the answer',
  error: 'it failed before the answer',
};

/**
 * The one rule for every consumer of an answer: questions to agents, hand-offs, workflow nodes and map items. Only the
 * finish reason `stop` marks a complete answer.
 */
export function useOutcome(outcome: ConsumedOutcome, onIncomplete: OnIncomplete): OutcomeUse {
  const { finish_reason, subject, remedies } = outcome;
  if (finish_reason === 'stop') return { kind: 'whole' };
  if (onIncomplete === 'accept') return { kind: 'marked', finish_reason };
  const remedy = remedies?.[finish_reason];
  const message = `${subject} gave an incomplete answer (${finish_reason}): ${CAUSES[finish_reason]}.${remedy === undefined ? '' : ` To change this, ${remedy}.`}`;
  return {
    kind: 'failed',
    failure: { code: 'ANSWER_INCOMPLETE', message, is_retryable: false, details: { finish_reason } },
  };
}
