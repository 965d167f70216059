/** The used part of a better-sqlite3 handle; the package has no type declarations. */
export interface SqliteStatement {
  run(...params: unknown[]): { changes: number };
  all(...params: unknown[]): unknown[];
}

export interface SqliteHandle {
  /** The file's path. */
  readonly name: string;
  readonly memory: boolean;
  readonly inTransaction: boolean;
  prepare(sql: string): SqliteStatement;
  pragma(pragma: string): unknown;
  exec(sql: string): unknown;
  close(): unknown;
}
