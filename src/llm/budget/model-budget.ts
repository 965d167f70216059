import type { Statement } from '../../persistence/index.js';
import type { ModelPrice } from '../../config/index.js';
import type { CallAccount, ChatRequest, ChatResult, Usage } from '../chat.types.js';

/** A call before it starts. */
export interface PlannedCall {
  readonly model: string;
  readonly request: ChatRequest;
  /** Without a price, the call has no cost. */
  readonly price: ModelPrice | undefined;
}

/** Outcome of a call. */
export type CallEnd =
  | { readonly kind: 'answered'; readonly result: ChatResult }
  /** The provider rejected the call, or did not receive it. */
  | { readonly kind: 'refused' }
  /** The call failed after the provider may have accepted it, without final usage. */
  | {
      readonly kind: 'broken';
      /** The text and the reasoning that arrived. */
      readonly said: string;
      /** UTF-16 units of call arguments that arrived beside the text. */
      readonly unseen?: number;
      /** The counts that the provider reported before. */
      readonly usage?: Usage;
    };

/** The maximum amount of a call, reserved until the used amount is known. */
export abstract class Reservation {
  /** Length of a streamed reply, in UTF-16 units, at which the caller calls `grow`; never by default. */
  checkAt = Number.POSITIVE_INFINITY;

  /**
   * Extends the reservation for a streamed reply that exceeds it.
   * @param text text since the last call
   * @param length length of the whole reply so far, in UTF-16 units
   * @param unseen UTF-16 units of the reply that are call arguments
   * @throws AppError `BUDGET_EXCEEDED` if the budget has no room
   */
  grow(_text: string, _length: number, _unseen: number): Promise<void> | null {
    return null;
  }

  /**
   * Extends the reservation of a reply that is not streamed, by a share of the remaining budget.
   * @param most the largest limit that the model accepts, in tokens
   * @returns the reply limit that the budget allows, in tokens; `null` if no limit is necessary
   */
  async limitReply(_most: number): Promise<number | null> {
    return null;
  }

  /**
   * Replaces the reservation by the used amount; idempotent. A complete reply counts as the provider reports it, or as
   * the estimate without a report. A rejected call counts as zero. A failed call counts the prompt and the received
   * part, and stays counted if the same step calls again.
   * @returns `null` if no I/O is necessary
   */
  abstract settle(end: CallEnd): Promise<void> | null;
}

/** Statements for the batch that journals the usage of calls or the end of their run. */
export interface JournaledSpending {
  readonly statements: readonly Statement[];
  /** Call it after the batch has committed. */
  committed(): void;
  /** Call it after the batch has failed. */
  discard(): void;
}

/** A new root run and its new session. */
export type NewAccount = Pick<CallAccount, 'tenant' | 'runId' | 'sessionId'>;

/** Usage of a call, as the journal records it. */
export interface ReportedUsage {
  readonly tokens: number;
  /** In the unit of `LLM_PRICES`. */
  readonly cost: number;
}

/** Usage of a journaled call. Times are epoch ms. */
export interface JournaledUsage extends ReportedUsage {
  readonly account: CallAccount;
  readonly at: number;
  /** Whether its root run has ended. */
  readonly isOver: boolean;
}

/** The port to the budgets, which no call exceeds. */
export abstract class ModelBudget {
  /** Whether the server has budgets; these limit every call with an account. */
  abstract readonly isForAll: boolean;

  /** Whether any budget limits the call; other calls need no reservation. */
  limits(account: CallAccount | undefined): account is CallAccount {
    return account !== undefined && (this.isForAll || account.own !== undefined);
  }

  /**
   * Reserves the maximum amount of a call. A repeated call of the same run and step replaces its reservation.
   * @returns `null` if no budget limits the call; synchronous if no I/O is necessary
   * @throws AppError `BUDGET_EXCEEDED` if a budget has no room
   */
  abstract reserve(account: CallAccount, call: PlannedCall): Reservation | null | Promise<Reservation | null>;

  /** Reports a new root run and session: their totals are zero. */
  onStarted(_account: NewAccount): void {}

  /**
   * Statements to commit with the usage of calls, or with the end of their run.
   * @param took usage of settled calls
   * @param isOver whether the run ends in this batch
   * @returns `null` if no statement is necessary
   */
  journaled(_runId: string, _took: readonly ReportedUsage[], _isOver: boolean): JournaledSpending | null {
    return null;
  }

  /**
   * Recomputes all totals from the journal.
   * @returns the number of totals
   * @throws AppError `BUDGET_IN_USE` if calls are in progress; nothing has changed then
   */
  abstract rebuild(usages: AsyncIterable<JournaledUsage>): Promise<number>;
}
