import type { JournaledSpending } from './model-budget.js';
import type { Amount, BudgetEntry, BudgetScope } from './budget.types.js';

/** Reason of a rejected reservation: another holder changed the entry, or this budget has no room or no total. */
export type BudgetRefusal = { readonly kind: 'taken' } | { readonly kind: 'full'; readonly scope: BudgetScope };

/** Options of a settlement. */
export interface Settlement {
  /** New id of the entry; unchanged by default. */
  readonly id?: string;
  /** Whether the journal will record the usage of the call. */
  readonly isReported?: boolean;
}

/** The port to the entries of calls and to the totals. Each operation changes both or neither. */
export abstract class BudgetStore {
  abstract find(id: string): Promise<BudgetEntry | null>;

  /** Expired reservations. @param now epoch ms */
  abstract expired(now: number): Promise<BudgetEntry[]>;

  /** `null` if there is no total. */
  abstract sum(scope: BudgetScope): Promise<Amount | null>;

  /**
   * Reserves an amount in all scopes, or in none.
   * @param before entry with the same id that this one replaces
   * @returns the reason of a rejection, else `null`; synchronous if no I/O is necessary
   */
  abstract reserve(
    entry: BudgetEntry,
    before: BudgetEntry | null,
    scopes: readonly BudgetScope[],
    now: number,
  ): BudgetRefusal | null | Promise<BudgetRefusal | null>;

  /** Creates the missing totals, with an amount of zero. */
  abstract open(scopes: readonly BudgetScope[], now: number): Promise<void>;

  /**
   * Replaces a reservation by the amount that the call used.
   * @returns false if the entry was changed meanwhile; synchronous if no I/O is necessary
   */
  abstract settle(entry: BudgetEntry, used: Amount, now: number, how?: Settlement): boolean | Promise<boolean>;

  /** Marks scopes as new: they have no total, so the store need not query it. */
  onStarted(_scopes: readonly BudgetScope[], _now: number): void {}

  /** See `ModelBudget.journaled`. */
  journaled(
    _runId: string,
    _took: readonly Amount[],
    _isOver: boolean,
    _isResumed?: boolean,
  ): JournaledSpending | null {
    return null;
  }

  /** Deletes outdated entries and totals. */
  abstract prune(now: number): Promise<void>;

  /**
   * Replaces all totals. Does nothing while a reservation is open, or if an entry was changed at or after `since`.
   * @param since epoch ms
   * @returns whether the totals were replaced
   */
  abstract replaceAll(sums: ReadonlyMap<BudgetScope, Amount>, since: number, now: number): Promise<boolean>;
}
