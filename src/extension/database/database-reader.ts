/** What one read may take. */
export interface ReadLimits {
  readonly maxRows: number;
  readonly timeoutMs: number;
  /** Of what comes from the database, before it is cut. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

export interface RowSet {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  /** Whether there were more rows. */
  readonly isCut: boolean;
}

/** A value that goes into a statement's place holder. */
export type ReadParameter = string | number | boolean | null;

/**
 * The port to a database that is only read: by its own means, so that no statement, however it is written, changes anything, and no
 * read leaves anything behind for the next one.
 */
export abstract class DatabaseReader {
  /** For the model: which SQL it speaks, and how place holders are written. */
  abstract readonly dialect: string;
  /** One row a column: `table_schema`, `table_name`, `kind`, `column_name`, `type`, `is_nullable`, `is_key`, `refers_to`. */
  abstract readonly schemaSql: string;

  /** Connects. @throws AppError `CONFIG_INVALID` when it cannot be read, or when its role could do more than read this database */
  abstract open(): Promise<void>;

  /**
   * Runs one statement that gives rows.
   * @throws AppError `TOOL_FAILED` saying for a model why not: the database refuses it, or it takes too long or too much
   */
  abstract read(sql: string, parameters: readonly ReadParameter[], limits: ReadLimits): Promise<RowSet>;

  abstract close(): Promise<void>;
}
