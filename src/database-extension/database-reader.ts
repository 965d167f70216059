/** Limits of one read. */
export interface ReadLimits {
  readonly maxRows: number;
  readonly timeoutMs: number;
  /** Bytes received from the database, before cutting. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

export interface RowSet {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  /** Whether rows were omitted. */
  readonly isCut: boolean;
}

/** The value of a placeholder. */
export type ReadParameter = string | number | boolean | null;

/**
 * The port to a database that is only read. The database's own means ensure that no statement changes anything, and
 * that no read leaves state for the next one.
 */
export abstract class DatabaseReader {
  /** For the model: the SQL dialect, and the syntax of placeholders. */
  abstract readonly dialect: string;
  /**
   * Returns one row per column: `table_schema`, `table_name`, `kind`, `column_name`, `type`, `is_nullable`, `is_key`,
   * `refers_to`.
   */
  abstract readonly schemaSql: string;

  /**
   * Connects. @throws AppError `CONFIG_INVALID` if it cannot be read, or if its role has more rights than reading this
   * database
   */
  abstract open(): Promise<void>;

  /**
   * Runs one statement that returns rows.
   * @throws AppError `TOOL_FAILED` with a reason for the model: rejected by the database, too slow or too large
   */
  abstract read(sql: string, parameters: readonly ReadParameter[], limits: ReadLimits): Promise<RowSet>;

  abstract close(): Promise<void>;
}
