import type { ModelPrice } from '../../config/index.js';
import type { CallAccount, ChatRequest, ChatResult } from '../chat.types.js';

/** A call that is about to be made. */
export interface PlannedCall {
  readonly model: string;
  readonly request: ChatRequest;
  /** Without one it costs nothing that is known. */
  readonly price: ModelPrice | undefined;
}

/** What a call may take, until it is known what it took. */
export abstract class Reservation {
  /**
   * Puts what was really used in its place: nothing, when the call failed (`null`); all of it, when nobody counted.
   * Doing it again changes nothing.
   */
  abstract settle(result: ChatResult | null): Promise<void>;
}

/** What a journaled call took. Times are epoch ms. */
export interface JournaledUsage {
  readonly account: CallAccount;
  readonly at: number;
  readonly tokens: number;
  readonly cost: number;
}

/** The port to budgets that no call goes beyond. */
export abstract class ModelBudget {
  /**
   * Reserves what the call may take, for its run and step: the same once more takes the place of what was there.
   * @returns `null` when nothing limits it
   * @throws AppError `BUDGET_EXCEEDED` when it may take more than is left
   */
  abstract reserve(account: CallAccount, call: PlannedCall): Promise<Reservation | null>;

  /** Counts anew from what the journal tells; not while runs go on. */
  abstract rebuild(usages: AsyncIterable<JournaledUsage>): Promise<void>;
}
