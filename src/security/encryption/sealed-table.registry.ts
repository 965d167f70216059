import type { SealedTable } from './sealed-table.types.js';

/** All tables with encrypted columns; each module registers its own. */
export class SealedTableRegistry {
  private readonly tables = new Map<string, SealedTable>();
  private readonly rewrites: (() => Promise<unknown>)[] = [];

  register(tables: readonly SealedTable[]): void {
    for (const table of tables) this.tables.set(table.name, table);
  }

  /** @param rewrite re-encrypts data outside of the database; does nothing if all have the first key */
  registerStore(rewrite: () => Promise<unknown>): void {
    this.rewrites.push(rewrite);
  }

  stores(): readonly (() => Promise<unknown>)[] {
    return this.rewrites;
  }

  list(): readonly SealedTable[] {
    return [...this.tables.values()];
  }
}
