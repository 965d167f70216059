import { AppError } from '../../common/index.js';
import { Database, insert, refusalOf, type SqlValue, type Statement } from '../../persistence/index.js';
import { AGENT_RUN_KEY, type Amount, type BudgetEntry, type BudgetScope } from './budget.types.js';

const DAY_MS = 86_400_000;
/** How long an entry is of use once it is settled: a run whose step was not recorded asks again, and finds it. */
const SETTLED_MS = DAY_MS;
/** How long a sum stays that no call will be added to; the sum of a session stays for ever. */
const RUN_MS = 400 * DAY_MS;
const PAST_DAY_MS = 32 * DAY_MS;
const PAGE = 200;
/** The row of a sum that nothing counts in, which is there while all others are replaced. */
const REBUILD = 'rebuild';

interface EntryRow extends Amount {
  readonly id: string;
  readonly tenant: string;
  readonly holder: string;
  readonly scopes: string;
  readonly expires_at: number | null;
}

/** Why a reservation was refused: another one has the entry, or this budget has no room (or no row) for it. */
export type BudgetRefusal = { readonly kind: 'taken' } | { readonly kind: 'full'; readonly scope: BudgetScope };

/** The tables of budgets: what each call has reserved or used, and the sums, changed together or not at all. */
export class BudgetStore {
  constructor(private readonly database: Database) {}

  async find(id: string): Promise<BudgetEntry | null> {
    return (await this.select('id = ?', [id], 1))[0] ?? null;
  }

  /** Entries that nobody has settled in time. */
  expired(now: number): Promise<BudgetEntry[]> {
    return this.select('expires_at < ? ORDER BY expires_at', [now], PAGE);
  }

  /** `null` when there is no row. */
  async sum({ key }: BudgetScope): Promise<Amount | null> {
    const sql = 'SELECT tokens, cost FROM budget_total WHERE scope = ?';
    return (await this.database.query<Amount>(sql, [key]))[0] ?? null;
  }

  /** @param before what has the same id, and goes. @returns why it was refused; nothing has changed then */
  async reserve(
    entry: BudgetEntry,
    before: BudgetEntry | null,
    scopes: readonly BudgetScope[],
    now: number,
  ): Promise<BudgetRefusal | null> {
    const first = before ? replace(before, entry, now) : insert('budget_entry', toRow(entry, now));
    const away = before ? before.scopes.map((key) => add(key, negative(before))) : [];
    const batch = [first, ...away, ...scopes.map((scope) => addWithin(scope, entry))];
    try {
      await this.database.commit(batch);
      return null;
    } catch (error) {
      if (refusalOf(error) === null) throw error;
      const at = (error as AppError).details?.['statement'] as number;
      const scope = scopes[at - 1 - away.length];
      return scope ? { kind: 'full', scope } : { kind: 'taken' };
    }
  }

  /** Rows for the sums that have none. */
  async open(scopes: readonly BudgetScope[], now: number): Promise<void> {
    await this.database.commit(scopes.map((scope) => this.database.insertIgnore('budget_total', toTotal(scope, now))));
  }

  /**
   * Puts what was used in the place of what is there.
   * @param id what the entry is called from then on
   * @returns whether the entry is still as it was given
   */
  async settle(entry: BudgetEntry, { tokens, cost }: Amount, now: number, id = entry.id): Promise<boolean> {
    const more = { tokens: tokens - entry.tokens, cost: cost - entry.cost };
    const settled = { ...entry, id, tokens, cost, expiresAt: null };
    try {
      await this.database.commit([replace(entry, settled, now), ...entry.scopes.map((key) => add(key, more))]);
      return true;
    } catch (error) {
      if (refusalOf(error) === null) throw error;
      return false;
    }
  }

  /** Deletes what is of no use any more. */
  async prune(now: number): Promise<void> {
    const old = 'expires_at IS NULL AND updated_at < ? ORDER BY updated_at';
    await this.database.commit([
      this.database.limitedDelete('budget_entry', ['id'], old, [now - SETTLED_MS], PAGE),
      this.database.limitedDelete('budget_total', ['scope'], 'kept_until < ?', [now], PAGE),
    ]);
  }

  /**
   * These sums and no others, unless a call goes on or anything has changed since a time.
   * @param since epoch ms
   * @returns whether they are there now
   */
  async replaceAll(sums: ReadonlyMap<BudgetScope, Amount>, since: number, now: number): Promise<boolean> {
    const rows = [...sums].map(([scope, { tokens, cost }]) => ({ ...toTotal(scope, now), tokens, cost }));
    const own = { scope: REBUILD, tenant: '', tokens: 0, cost: 0, kept_until: null };
    try {
      await this.database.commit([
        this.database.insertIgnore('budget_total', own),
        // Whoever reserves changes a sum: those who have done so already are waited for, and seen below.
        { sql: 'UPDATE budget_total SET tokens = tokens', params: [] },
        {
          sql: `UPDATE budget_total SET tokens = tokens + 1 WHERE scope = ?
            AND NOT EXISTS (SELECT 1 FROM budget_entry WHERE expires_at >= ? OR updated_at >= ?)`,
          params: [REBUILD, now, since],
          rows: 1,
        },
        // What a run of an agent takes with those that it calls cannot be told from what is counted anew.
        { sql: 'DELETE FROM budget_total WHERE scope NOT LIKE ?', params: [`${AGENT_RUN_KEY}%`] },
        { sql: 'DELETE FROM budget_entry', params: [] },
        ...rows.map((row) => insert('budget_total', row)),
      ]);
      return true;
    } catch (error) {
      if (refusalOf(error) === null) throw error;
      return false;
    }
  }

  private async select(where: string, params: readonly SqlValue[], limit: number): Promise<BudgetEntry[]> {
    const sql = `SELECT id, tenant, holder, tokens, cost, scopes, expires_at FROM budget_entry WHERE ${where} LIMIT ?`;
    const rows = await this.database.query<EntryRow>(sql, [...params, limit]);
    return rows.map(({ expires_at, scopes, ...row }) => ({
      ...row,
      scopes: JSON.parse(scopes) as string[],
      expiresAt: expires_at,
    }));
  }
}

function toRow({ scopes, expiresAt, ...entry }: BudgetEntry, now: number) {
  const { id, tenant, holder, tokens, cost } = entry;
  return { id, tenant, holder, tokens, cost, scopes: JSON.stringify(scopes), expires_at: expiresAt, updated_at: now };
}

/** @param now epoch ms */
function toTotal({ key, tenant, name, resetsAt }: BudgetScope, now: number) {
  const past = name === 'run' ? now + RUN_MS : null;
  return { scope: key, tenant, tokens: 0, cost: 0, kept_until: resetsAt === null ? past : resetsAt + PAST_DAY_MS };
}

function replace(before: BudgetEntry, entry: BudgetEntry, now: number): Statement {
  const { id, holder, tokens, cost, scopes, expires_at, updated_at } = toRow(entry, now);
  const asItWas = [before.holder, before.tokens, before.cost];
  return {
    sql: `UPDATE budget_entry SET id = ?, holder = ?, tokens = ?, cost = ?, scopes = ?, expires_at = ?, updated_at = ?
      WHERE id = ? AND holder = ? AND tokens = ? AND cost = ?`,
    params: [id, holder, tokens, cost, scopes, expires_at, updated_at, before.id, ...asItWas],
    rows: 1,
  };
}

function add(key: string, { tokens, cost }: Amount): Statement {
  const sql = 'UPDATE budget_total SET tokens = tokens + ?, cost = cost + ? WHERE scope = ?';
  return { sql, params: [tokens, cost, key] };
}

function addWithin({ key, limit }: BudgetScope, { tokens, cost }: Amount): Statement {
  return {
    sql: `UPDATE budget_total SET tokens = tokens + ?, cost = cost + ?
      WHERE scope = ? AND tokens + ? <= ? AND cost + ? <= ?`,
    params: [tokens, cost, key, tokens, limit.tokens, cost, limit.cost],
    rows: 1,
  };
}

function negative({ tokens, cost }: Amount): Amount {
  return { tokens: -tokens, cost: -cost };
}
