import { AppError } from '../../errors/index.js';
import { DAY_MS } from '../../kernel/index.js';
import { Database, inLists, refusalOf } from '../../persistence/index.js';
import { insert, type SqlValue, type Statement } from '../../persistence/statement/index.js';
import { outdatedKeys, toEntry, toEntryRow, toTotalRow, type EntryRow, type TotalRow } from './budget-row.mapper.js';
import { BudgetStore, type BudgetRefusal, type Settlement } from './budget.store.js';
import { AGENT_RUN_KEY, type Amount, type BudgetEntry, type BudgetScope } from './budget.types.js';

/** Retention of a settled entry, in ms. A run whose step was not recorded calls again and finds it. */
const SETTLED_MS = DAY_MS;
const PAGE = 200;
/** Maximum rows per deletion: more than arrive between two of them. */
const PRUNED = 1000;
/** Key of a lock row: a rebuild updates it, and no call uses it. */
const REBUILD = 'rebuild';

/**
 * Budgets in a database that several processes use. The database admits each reservation and stores it before the call.
 */
export class SharedBudgetStore extends BudgetStore {
  constructor(private readonly database: Database) {
    super();
  }

  async find(id: string): Promise<BudgetEntry | null> {
    return (await this.select('id = ?', [id], 1))[0] ?? null;
  }

  expired(now: number): Promise<BudgetEntry[]> {
    return this.select('expires_at < ? ORDER BY expires_at', [now], PAGE);
  }

  async sum({ key }: BudgetScope): Promise<Amount | null> {
    const sql = 'SELECT tokens, cost FROM budget_total WHERE scope = ?';
    return (await this.database.query<Amount>(sql, [key]))[0] ?? null;
  }

  async reserve(
    entry: BudgetEntry,
    before: BudgetEntry | null,
    scopes: readonly BudgetScope[],
    now: number,
  ): Promise<BudgetRefusal | null> {
    const first = before ? replace(before, entry, now) : insert('budget_entry', toEntryRow(entry, now));
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

  /** The existing totals of these keys. */
  async sums(keys: readonly string[]): Promise<TotalRow[]> {
    const pages = inLists(keys).map(({ marks, params }) =>
      this.database.query<TotalRow>(
        `SELECT scope, tenant, tokens, cost, kept_until FROM budget_total WHERE scope IN (${marks})`,
        params,
      ),
    );
    return (await Promise.all(pages)).flat();
  }

  async open(scopes: readonly BudgetScope[], now: number): Promise<void> {
    await this.database.commit(
      scopes.map((scope) => this.database.insertIgnore('budget_total', toTotalRow(scope, now))),
    );
  }

  async settle(
    entry: BudgetEntry,
    { tokens, cost }: Amount,
    now: number,
    { id = entry.id }: Settlement = {},
  ): Promise<boolean> {
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

  async prune(now: number): Promise<void> {
    const old = 'expires_at IS NULL AND updated_at < ? ORDER BY updated_at';
    await this.database.commit([
      this.database.limitedDelete('budget_entry', ['id'], old, [now - SETTLED_MS], PRUNED),
      ...outdatedKeys(now).map(([from, before]) => {
        const outdated = 'scope >= ? AND scope < ? AND kept_until < ?';
        return this.database.limitedDelete('budget_total', ['scope'], outdated, [from, before, now], PRUNED);
      }),
    ]);
  }

  async replaceAll(sums: ReadonlyMap<BudgetScope, Amount>, since: number, now: number): Promise<boolean> {
    const rows = [...sums].map(([scope, { tokens, cost }]) => ({ ...toTotalRow(scope, now), tokens, cost }));
    const own = { scope: REBUILD, tenant: '', tokens: 0, cost: 0, kept_until: null };
    try {
      await this.database.commit([
        this.database.insertIgnore('budget_total', own),
        // Locks all totals: waits for concurrent reservations, which the next statement then sees.
        { sql: 'UPDATE budget_total SET tokens = tokens', params: [] },
        {
          sql: `UPDATE budget_total SET tokens = tokens + 1 WHERE scope = ?
            AND NOT EXISTS (SELECT 1 FROM budget_entry WHERE expires_at >= ? OR updated_at >= ?)`,
          params: [REBUILD, now, since],
          rows: 1,
        },
        // Totals of agents' runs stay: the journal does not record them separately.
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
    return rows.map(toEntry);
  }
}

function replace(before: BudgetEntry, entry: BudgetEntry, now: number): Statement {
  const { id, holder, tokens, cost, scopes, expires_at, updated_at } = toEntryRow(entry, now);
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
