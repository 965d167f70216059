import type { Statement } from '../../persistence/index.js';
import type { ModelPrice } from '../../config/index.js';
import type { CallAccount, ChatRequest, ChatResult, Usage } from '../chat.types.js';

/** A call that is about to be made. */
export interface PlannedCall {
  readonly model: string;
  readonly request: ChatRequest;
  /** Without one it costs nothing that is known. */
  readonly price: ModelPrice | undefined;
}

/** How a call came to its end. */
export type CallEnd =
  | { readonly kind: 'answered'; readonly result: ChatResult }
  /** The provider did not take it, as far as anybody knows. */
  | { readonly kind: 'refused' }
  /** The provider has taken it, or may have, and nobody says what it took. */
  | {
      readonly kind: 'broken';
      /** The text and the reasoning that arrived. */
      readonly said: string;
      /** UTF-16 units that arrived beside them: arguments of calls. */
      readonly unseen?: number;
      /** The counts that the provider reported before. */
      readonly usage?: Usage;
    };

/** The amount that a call may take, until the amount that it took is known. */
export abstract class Reservation {
  /** The length of a running reply, in UTF-16 units, from which on `grow` is to be called; never by default. */
  checkAt = Number.POSITIVE_INFINITY;

  /**
   * Extends the reservation where a running reply has become longer than it.
   * @param text that arrived since the last call
   * @param length of the whole reply so far, in UTF-16 units
   * @param unseen UTF-16 units of it that are arguments of calls
   * @throws AppError `BUDGET_EXCEEDED` when the budget has no room for it
   */
  grow(_text: string, _length: number, _unseen: number): Promise<void> | null {
    return null;
  }

  /**
   * Extends the reservation of a reply that cannot be stopped while it runs by a share of the remaining budget.
   * @param most the longest reply that the model may be limited to, in tokens
   * @returns the longest reply that the budget allows, in tokens; `null` where it is long enough for any reply
   */
  async limitReply(_most: number): Promise<number | null> {
    return null;
  }

  /**
   * Puts what was really used in its place: what the provider counted, or all of it when that counted nothing; nothing
   * when it was refused; the prompt and what was said, as far as they can be counted here, when it was broken off. That
   * stays when the same step asks again. Doing it again changes nothing. `null` where nothing need be waited for.
   */
  abstract settle(end: CallEnd): Promise<void> | null;
}

/** What goes into the batch that journals the usage of calls, or the end of their run. */
export interface JournaledSpending {
  readonly statements: readonly Statement[];
  /** The batch is durable. */
  committed(): void;
  /** The batch was not committed. */
  discard(): void;
}

/** Whose calls are counted in a run at the top and in its session, both new. */
export type NewAccount = Pick<CallAccount, 'tenant' | 'runId' | 'sessionId'>;

/** What is told of a call in the journal. */
export interface ToldUsage {
  readonly tokens: number;
  /** In the unit of `LLM_PRICES`. */
  readonly cost: number;
}

/** What a journaled call took. Times are epoch ms. */
export interface JournaledUsage extends ToldUsage {
  readonly account: CallAccount;
  readonly at: number;
  /** Whether the run at the top, in which it counts, is over. */
  readonly isOver: boolean;
}

/** The port to budgets that no call goes beyond. */
export abstract class ModelBudget {
  /** Whether the server has budgets, for whomever a call is. */
  abstract readonly isForAll: boolean;

  /** Whether such a call counts anywhere: of others nothing need be reserved. */
  limits(account: CallAccount | undefined): account is CallAccount {
    return account !== undefined && (this.isForAll || account.own !== undefined);
  }

  /**
   * Reserves what the call may take, for its run and step: the same once more takes the place of what was there.
   * @returns `null` when nothing limits it; no promise where nothing need be waited for
   * @throws AppError `BUDGET_EXCEEDED` when it may take more than is left
   */
  abstract reserve(account: CallAccount, call: PlannedCall): Reservation | null | Promise<Reservation | null>;

  /** A run and its session begin, and nothing was spent in either so far. */
  begun(_account: NewAccount): void {}

  /**
   * Whoever journals what calls of a run took, or its end, asks for what is to be journaled with it.
   * @param took what was told of calls that have settled
   * @param isOver whether the run ends with that: nothing will count in it any more
   * @returns `null` when there is nothing
   */
  journaled(_runId: string, _took: readonly ToldUsage[], _isOver: boolean): JournaledSpending | null {
    return null;
  }

  /**
   * Counts anew from what the journal tells.
   * @returns how many sums there are now
   * @throws AppError `BUDGET_IN_USE` when calls go on meanwhile; nothing has changed then
   */
  abstract rebuild(usages: AsyncIterable<JournaledUsage>): Promise<number>;
}
