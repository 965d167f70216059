import type { DataSource, DataSourceOptions } from 'typeorm';

/** What agents are given to read, and how much of it at once. */
export interface DatabaseExtensionOptions {
  /** PostgreSQL, MariaDB or a SQLite file (better-sqlite3). Only its settings are used: the connections are the extension's own. */
  readonly dataSource: DataSource | DataSourceOptions;
  /** Before the tools' names, for a second database: `sales` makes `sales_schema` and `sales_query`. By default `db`. */
  readonly prefix?: string;
  /** For the model: what is in it. */
  readonly about?: string;
  /** The tables that `db_schema` tells of: `orders`, `sales.orders` or `sales.*`; by default all. What may be read is up to the database's rights. */
  readonly tables?: readonly string[];
  /** By default 100. */
  readonly maxRows?: number;
  /** The longest one query may take, in ms; by default 5,000. */
  readonly timeoutMs?: number;
  /** Characters of one value that are shown; by default 2,000. */
  readonly maxCellLength?: number;
  /** Bytes of the rows, as JSON, that are shown; by default 50,000. */
  readonly maxBytes?: number;
}
