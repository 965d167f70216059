import { Injectable, Logger, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { RecurringWork } from '../../common/index.js';
import type { Statement } from '../../persistence/index.js';
import { Cipher } from './cipher.js';
import { SealedRowStore, type Replacement } from './sealed-row.store.js';
import { SealedTableRegistry } from './sealed-table.registry.js';
import type { SealedTable, StoredRow } from './sealed-table.types.js';

const FIRST_MS = 5_000;
const AGAIN_MS = 60_000;
const HEADS_A_PAGE = 500;
const ROWS_A_BATCH = 100;
const CHARS_A_BATCH = 1_000_000;
/** Rows that cannot be read are told one by one up to here; then they are only counted. */
const TOLD = 10;

/** What became of the rows that are not encrypted with the first key. */
export interface ReencryptionReport {
  readonly rewritten: number;
  /** Those that could not be opened, and are as they were. */
  readonly failed: number;
  /** Whether all rows were looked at. */
  readonly isWhole: boolean;
}

/**
 * Encrypts with the first key what is stored plain or under an earlier one: once a start, in the background, a little at
 * a time. Every process does it; what one has done the others pass over, and what changes meanwhile is left as it is.
 */
@Injectable()
export class ReencryptionService implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(ReencryptionService.name);
  private readonly rounds = new RecurringWork({
    work: () => this.rewriteAndTell(),
    onFailure: (err) => this.logger.error({ err }, 'Rows could not be encrypted anew; they are tried again'),
    retryMs: AGAIN_MS,
  });

  constructor(
    private readonly cipher: Cipher,
    private readonly tables: SealedTableRegistry,
    private readonly rows: SealedRowStore,
  ) {}

  onApplicationBootstrap(): void {
    if (this.cipher.head !== null) this.rounds.start(FIRST_MS);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.rounds.stop();
  }

  /** Goes through all tables once; without keys there is nothing to do. */
  async rewriteAll(): Promise<ReencryptionReport> {
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
      if (rewritten > 0) this.logger.log(`Encrypted ${rewritten} rows anew so far; the table ${table.name} is done`);
    }
    // What the rows were before would still be in the file.
    if (rewritten > 0) await this.rows.purge();
    return { rewritten, failed, isWhole: !this.rounds.isStopping };
  }

  private async rewriteAndTell(): Promise<null> {
    this.tell(await this.rewriteAll());
    return null;
  }

  private tell({ rewritten, failed, isWhole }: ReencryptionReport): void {
    const { head } = this.cipher;
    if (failed > 0) this.logger.error(`${failed} rows cannot be read; the key that they were written with must stay`);
    else if (isWhole) this.logger.log(`Every row is encrypted as ${head}… (${rewritten} were not)`);
  }

  /** @returns how many rows could not be opened */
  private async rewrite(table: SealedTable, stale: readonly StoredRow[], failedBefore: number): Promise<number> {
    let failed = 0;
    let batch: Statement[] = [];
    let chars = 0;
    for (const found of stale) {
      if (this.rounds.isStopping) break;
      const row = await this.rows.read(table, found);
      const replacements = row && this.replacementsOf(table, row, failedBefore + failed < TOLD);
      failed += row && !replacements ? 1 : 0;
      batch.push(...(replacements ?? []).map((replacement) => this.rows.replace(table, found, replacement)));
      chars += lengthOf(replacements ?? []);
      if (batch.length < ROWS_A_BATCH && chars < CHARS_A_BATCH) continue;
      await this.rows.commit(batch);
      [batch, chars] = [[], 0];
      await this.rounds.rest();
    }
    await this.rows.commit(batch);
    return failed;
  }

  /** @returns `null` when a text cannot be opened */
  private replacementsOf(table: SealedTable, row: StoredRow, isTold: boolean): Replacement[] | null {
    try {
      return table.columns.flatMap(({ name, place }) => {
        const from = row[name];
        if (!isStale(from, this.cipher.head!)) return [];
        const at = place(row);
        return [{ column: name, from, to: this.cipher.seal(this.cipher.open(from, at), at) }];
      });
    } catch (err) {
      if (isTold) this.logger.error({ err }, 'A row could not be encrypted anew');
      return null;
    }
  }
}

function lengthOf(replacements: readonly Replacement[]): number {
  return replacements.reduce((sum, { from, to }) => sum + from.length + to.length, 0);
}

/** A text that is there, and is not encrypted with the first key. An empty one is what retention leaves. */
function isStale(stored: string | number | null | undefined, head: string): stored is string {
  return typeof stored === 'string' && stored !== '' && !stored.startsWith(head);
}
