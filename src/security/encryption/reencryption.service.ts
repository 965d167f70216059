import { Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { Log } from '../../errors/index.js';
import { RecurringWork } from '../../kernel/index.js';
import { refusalOf, withLongCalls } from '../../persistence/index.js';
import type { Statement } from '../../persistence/statement/index.js';
import { Cipher } from './cipher.js';
import { openColumn, SealedRowStore, type Replacement } from './sealed-row.store.js';
import { SealedTableRegistry } from './sealed-table.registry.js';
import type { SealedTable, StoredRow } from './sealed-table.types.js';

const FIRST_MS = 5_000;
const AGAIN_MS = 60_000;
const HEADS_A_PAGE = 500;
const ROWS_A_BATCH = 100;
const CHARS_A_BATCH = 1_000_000;
/** Maximum unreadable rows that are logged one by one; further ones are only counted. */
const MAX_LOGGED = 10;

/** Result of one pass over all rows that are not encrypted with the first key. */
export interface ReencryptionReport {
  readonly rewritten: number;
  /** Rows that could not be re-encrypted; they are unchanged. */
  readonly failed: number;
  /** Whether the pass covered all rows; `false` after a shutdown. */
  readonly isWhole: boolean;
}

/**
 * Re-encrypts rows that are plain text or encrypted with an earlier key: once per start, in the background, in batches.
 * Every process runs it; rows already rewritten are skipped, and rows that change meanwhile are left unchanged.
 */
@Injectable()
export class ReencryptionService implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Log(ReencryptionService.name);
  private readonly rounds = new RecurringWork({
    work: () => this.rewriteAndReport(),
    onFailure: (err) => this.logger.error({ err }, 'Re-encryption failed; retrying'),
    retryMs: AGAIN_MS,
  });

  constructor(
    private readonly cipher: Cipher,
    private readonly tables: SealedTableRegistry,
    private readonly rows: SealedRowStore,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    if (this.cipher.head !== null) await this.rows.onceOpen(() => this.rounds.start(FIRST_MS));
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.rounds.stop();
  }

  /** One pass over all tables and other stores; does nothing without keys. */
  rewriteAll(): Promise<ReencryptionReport> {
    return withLongCalls(() => this.rewriteTables());
  }

  private async rewriteTables(): Promise<ReencryptionReport> {
    const { head } = this.cipher;
    let [rewritten, failed] = [0, 0];
    for (const table of head === null ? [] : this.tables.list()) {
      let last: StoredRow | null = null;
      while (!this.rounds.isStopping) {
        const page: StoredRow[] = await this.rows.heads(table, last, HEADS_A_PAGE);
        const stale = page.filter((row) => table.columns.some(({ name }) => isStale(row[name], head!)));
        const faults = await this.rewrite(table, stale, failed);
        rewritten += stale.length - faults;
        failed += faults;
        last = page.at(-1) ?? null;
        if (page.length < HEADS_A_PAGE) break;
        await this.rounds.rest();
      }
      if (rewritten > 0) this.logger.log(`Re-encrypted table ${table.name}; ${rewritten} rows rewritten so far`);
    }
    if (head !== null) for (const rewriteStore of this.tables.stores()) await rewriteStore();
    // Deleted plain text would otherwise stay in the database file.
    if (rewritten > 0) await this.rows.purge();
    return { rewritten, failed, isWhole: !this.rounds.isStopping };
  }

  private async rewriteAndReport(): Promise<null> {
    this.report(await this.rewriteAll());
    return null;
  }

  private report({ rewritten, failed, isWhole }: ReencryptionReport): void {
    const { head } = this.cipher;
    if (failed > 0)
      this.logger.error(`${failed} rows cannot be re-encrypted; keep the key that encrypted them in ENCRYPTION_KEYS`);
    else if (isWhole)
      this.logger.log(
        `All texts of users, models and tools in the database are encrypted as ${head}… (${rewritten} rows rewritten); ` +
          'ids, names, numbers, times, hashes and definitions of MCP tools are not, see docs/privacy.md',
      );
  }

  /** @returns number of rows that could not be re-encrypted */
  private async rewrite(table: SealedTable, stale: readonly StoredRow[], failedBefore: number): Promise<number> {
    let failed = 0;
    let batch: Statement[] = [];
    let chars = 0;
    for (const found of stale) {
      if (this.rounds.isStopping) break;
      const row = await this.rows.read(table, found);
      const replacements = row && this.replacementsOf(table, row, failedBefore + failed < MAX_LOGGED);
      failed += row && !replacements ? 1 : 0;
      batch.push(...(replacements ?? []).map((replacement) => this.rows.replace(table, found, replacement)));
      chars += lengthOf(replacements ?? []);
      if (batch.length < ROWS_A_BATCH && chars < CHARS_A_BATCH) continue;
      failed += await this.commit(batch);
      [batch, chars] = [[], 0];
      await this.rounds.rest();
    }
    return failed + (await this.commit(batch));
  }

  /** @returns number of refused statements: a value that depends on a text may exist in another row */
  private async commit(batch: readonly Statement[]): Promise<number> {
    try {
      await this.rows.commit(batch);
      return 0;
    } catch (err) {
      if (refusalOf(err) !== 'unique') throw err;
      if (batch.length > 1) {
        let refused = 0;
        for (const statement of batch) refused += await this.commit([statement]);
        return refused;
      }
      this.logger.error({ err }, 'Failed to re-encrypt a row: another row has the same text; delete one of them');
      return 1;
    }
  }

  /** @returns `null` if a text cannot be decrypted */
  private replacementsOf(table: SealedTable, row: StoredRow, isLogged: boolean): Replacement[] | null {
    try {
      return table.columns.flatMap((column) => {
        const { name, place, dependents } = column;
        const from = row[name];
        if (!isStale(from, this.cipher.head!)) return [];
        const json = openColumn(this.cipher, column, row, from);
        const to = this.cipher.seal(json, place(row));
        return [{ column: name, from, to, ...(dependents && { also: dependents(json, row, this.cipher) }) }];
      });
    } catch (err) {
      if (isLogged) this.logger.error({ err }, 'Failed to re-encrypt a row');
      return null;
    }
  }
}

function lengthOf(replacements: readonly Replacement[]): number {
  return replacements.reduce((sum, { from, to }) => sum + from.length + to.length, 0);
}

/** Whether a stored text is not encrypted with the first key. Empty texts (left by retention) stay empty. */
function isStale(stored: string | number | null | undefined, head: string): stored is string {
  return typeof stored === 'string' && stored !== '' && !stored.startsWith(head);
}
