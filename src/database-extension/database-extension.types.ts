import type { DataSource, DataSourceOptions } from 'typeorm';

/** The database that agents can read, and the limits of one read. */
export interface DatabaseExtensionOptions {
  /**
   * PostgreSQL, MariaDB or a SQLite file (better-sqlite3). Only its settings are used: the extension opens its own
   * connections.
   */
  readonly dataSource: DataSource | DataSourceOptions;
  /**
   * Prefix of the tools' names, for a second database: `sales` creates `sales_schema` and `sales_query`. Default: `db`.
   */
  readonly prefix?: string;
  /** Description of the content, for the model. */
  readonly about?: string;
  /**
   * Tables that `db_schema` describes: `orders`, `sales.orders` or `sales.*`; by default all. The database's rights
   * decide about access.
   */
  readonly tables?: readonly string[];
  /** Maximum number of rows in a result; default: 100. */
  readonly maxRows?: number;
  /** Maximum duration of one query, in ms; default: 5,000. */
  readonly timeoutMs?: number;
  /** Maximum length of one value, in characters; default: 2,000. */
  readonly maxCellLength?: number;
  /** Maximum size of the rows as JSON, in bytes; default: 50,000. */
  readonly maxBytes?: number;
}
