import type { JournaledSpending } from './model-budget.js';
import type { Amount, BudgetEntry, BudgetScope } from './budget.types.js';

/** Why a reservation was refused: another one has the entry, or this budget has no room (or no sum) for it. */
export type BudgetRefusal = { readonly kind: 'taken' } | { readonly kind: 'full'; readonly scope: BudgetScope };

/** How a call is settled. */
export interface Settlement {
  /** What the entry is called from then on; by default as before. */
  readonly id?: string;
  /** Whether the journal will tell of it. */
  readonly isTold?: boolean;
}

/** The port to what each call has reserved or used, and to the sums: changed together or not at all. */
export abstract class BudgetStore {
  abstract find(id: string): Promise<BudgetEntry | null>;

  /** Entries that nobody has settled in time. */
  abstract expired(now: number): Promise<BudgetEntry[]>;

  /** `null` when there is none. */
  abstract sum(scope: BudgetScope): Promise<Amount | null>;

  /**
   * @param before what has the same id, and goes
   * @returns why it was refused; nothing has changed then. No promise where nothing need be waited for
   */
  abstract reserve(
    entry: BudgetEntry,
    before: BudgetEntry | null,
    scopes: readonly BudgetScope[],
    now: number,
  ): BudgetRefusal | null | Promise<BudgetRefusal | null>;

  /** Sums of nothing where there are none. */
  abstract open(scopes: readonly BudgetScope[], now: number): Promise<void>;

  /**
   * Puts what was used in the place of what is there.
   * @returns whether the entry is still as it was given; no promise where nothing need be waited for
   */
  abstract settle(entry: BudgetEntry, used: Amount, now: number, how?: Settlement): boolean | Promise<boolean>;

  /** Nothing was ever counted in these: there is no sum to be looked for. */
  begun(_scopes: readonly BudgetScope[], _now: number): void {}

  /** What `ModelBudget.journaled` gives. */
  journaled(_runId: string, _took: readonly Amount[], _isOver: boolean): JournaledSpending | null {
    return null;
  }

  /** Deletes what is of no use any more. */
  abstract prune(now: number): Promise<void>;

  /**
   * These sums and no others, unless a call goes on or anything has changed since a time.
   * @param since epoch ms
   * @returns whether they are there now
   */
  abstract replaceAll(sums: ReadonlyMap<BudgetScope, Amount>, since: number, now: number): Promise<boolean>;
}
