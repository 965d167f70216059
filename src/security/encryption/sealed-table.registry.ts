import type { SealedTable } from './sealed-table.types.js';

/** Every table with sealed columns; modules tell theirs when they are made. */
export class SealedTableRegistry {
  private readonly tables = new Map<string, SealedTable>();

  register(tables: readonly SealedTable[]): void {
    for (const table of tables) this.tables.set(table.name, table);
  }

  list(): readonly SealedTable[] {
    return [...this.tables.values()];
  }
}
