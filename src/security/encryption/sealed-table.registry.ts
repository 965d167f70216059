import type { SealedTable } from './sealed-table.types.js';

/** All tables with encrypted columns; each module registers its own. */
export class SealedTableRegistry {
  private readonly tables = new Map<string, SealedTable>();

  register(tables: readonly SealedTable[]): void {
    for (const table of tables) this.tables.set(table.name, table);
  }

  list(): readonly SealedTable[] {
    return [...this.tables.values()];
  }
}
