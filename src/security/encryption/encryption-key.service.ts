import { Injectable } from '@nestjs/common';
import { AppError } from '../../errors/index.js';
import { Cipher } from './cipher.js';
import { openColumn, SealedRowStore } from './sealed-row.store.js';
import { SealedTableRegistry } from './sealed-table.registry.js';
import type { SealedTable, StoredRow } from './sealed-table.types.js';
import { parseSealed } from './sealed-text.parser.js';

/** Rows at either end of a table among which a key is searched. */
const SEARCHED_ROWS = 100;
/** Texts of a key in a table that are decrypted until one succeeds; the others may be damaged. */
const TRIED_TEXTS = 5;

/**
 * Compares the keys with their check values in the database. A key without one is first verified against texts that carry
 * its id: with another key under the same id, rows of two keys would be mixed under one id.
 */
@Injectable()
export class EncryptionKeyService {
  constructor(
    private readonly cipher: Cipher,
    private readonly tables: SealedTableRegistry,
    private readonly rows: SealedRowStore,
  ) {}

  /**
   * @returns the check values of keys that have none in the database
   * @throws AppError `CONFIG_INVALID` if a key is another one than before
   */
  async verify(): Promise<ReadonlyMap<string, string>> {
    const { keyChecks } = this.cipher;
    if (keyChecks.size === 0) return keyChecks;
    await this.compare();
    const stored = await this.rows.keyChecks();
    const unknown = new Map([...keyChecks].filter(([id]) => !stored.has(id)));
    if (unknown.size > 0) await this.tryTexts(new Set(unknown.keys()));
    return unknown;
  }

  /** @throws AppError `CONFIG_INVALID` if another process has stored another key meanwhile */
  async store(checks: ReadonlyMap<string, string>): Promise<void> {
    if (checks.size === 0) return;
    await this.rows.storeKeyChecks(checks);
    await this.compare();
  }

  private async compare(): Promise<void> {
    const stored = await this.rows.keyChecks();
    for (const [id, check] of this.cipher.keyChecks) {
      if ((stored.get(id) ?? check) !== check) throw otherKey(id);
    }
  }

  private async tryTexts(ids: ReadonlySet<string>): Promise<void> {
    const [opened, failed] = [new Set<string>(), new Set<string>()];
    for (const table of this.tables.list()) {
      const left = new Set([...ids].filter((id) => !opened.has(id)));
      if (left.size === 0) return;
      const found = await this.tryTable(table, left);
      for (const [id, isOpened] of found) (isOpened ? opened : failed).add(id);
    }
    for (const id of failed) if (!opened.has(id)) throw otherKey(id);
  }

  /** @returns by key id, whether a text could be decrypted; without the ids that no text has */
  private async tryTable(table: SealedTable, ids: ReadonlySet<string>): Promise<ReadonlyMap<string, boolean>> {
    const heads = [
      ...(await this.rows.newest(table, SEARCHED_ROWS)),
      ...(await this.rows.heads(table, null, SEARCHED_ROWS)),
    ];
    const found = new Map<string, boolean>();
    const tries = new Map<string, number>();
    for (const head of heads) {
      for (const { name } of table.columns) {
        const id = keyIdOf(head[name]);
        const count = id === undefined ? 0 : (tries.get(id) ?? 0);
        if (id === undefined || !ids.has(id) || found.get(id) || count === TRIED_TEXTS) continue;
        tries.set(id, count + 1);
        found.set(id, await this.opens(table, head, name));
      }
    }
    return found;
  }

  private async opens(table: SealedTable, head: StoredRow, name: string): Promise<boolean> {
    const row = await this.rows.read(table, head);
    const column = table.columns.find((one) => one.name === name)!;
    const stored = row?.[name];
    // The row was deleted.
    if (!row || typeof stored !== 'string') return true;
    try {
      openColumn(this.cipher, column, row, stored);
      return true;
    } catch {
      return false;
    }
  }
}

function keyIdOf(stored: string | number | null | undefined): string | undefined {
  return typeof stored === 'string' ? parseSealed(stored)?.keyId : undefined;
}

function otherKey(id: string): AppError {
  return new AppError(
    'CONFIG_INVALID',
    `The key "${id}" of ENCRYPTION_KEYS is not the key with which this database was encrypted under this id. Nothing was written: give the former key, or give the new key another id, first in the list, and keep the former one behind it.`,
  );
}
