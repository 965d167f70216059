import type { SealedTable } from './sealed-table.types.js';

/** All tables with encrypted columns, and the encrypted stores outside of the database. */
export class SealedTableRegistry {
  private readonly rewrites: (() => Promise<unknown>)[] = [];

  constructor(private readonly tables: readonly SealedTable[]) {}

  /** @param rewrite re-encrypts data outside of the database; does nothing if all have the first key */
  registerStore(rewrite: () => Promise<unknown>): void {
    this.rewrites.push(rewrite);
  }

  stores(): readonly (() => Promise<unknown>)[] {
    return this.rewrites;
  }

  list(): readonly SealedTable[] {
    return this.tables;
  }
}
