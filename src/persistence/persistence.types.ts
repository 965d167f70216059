import type { DataSource, EntitySchemaOptions, MigrationInterface } from 'typeorm';
import type { Database } from './database.js';
import type { MigrationOptions } from './migration.executor.js';

/**
 * Short messages between the processes on one database. After a lost message (a connection was down), the tables have
 * the data.
 */
export abstract class NotificationChannel {
  /**
   * Calls the listener with every payload of a channel, in each sender's order, including this process.
   * @param channel 1 to 63 of `a-z 0-9 _`, not starting with a digit
   * @param onReconnect called after an interruption in which payloads were lost
   * @returns a function that ends the subscription
   */
  abstract listen(
    channel: string,
    listener: (payload: string) => void,
    onReconnect?: () => void,
  ): Promise<() => Promise<void>>;

  /**
   * Sends soon, together with other payloads of the same turn of the event loop; a failure is logged.
   * @throws AppError `INTERNAL` when the payload is too long for a notification, or contains a line break or a NUL
   */
  abstract notify(channel: string, payload: string): void;

  /** Sends pending payloads and closes the connections. */
  abstract close(): Promise<void>;
}

/**
 * The modules' parts of the schema: explicit lists, with migrations in the order of their timestamps. Schemas exist
 * only for the tables that `Database.table` reads and writes; the migrations create all tables.
 */
export interface PersistenceOptions extends MigrationOptions {
  // Schemas of rows of any type.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly entities: readonly EntitySchemaOptions<any>[];
  readonly migrations: readonly (new () => MigrationInterface)[];
}

/** A database for the modules of an application. */
export interface UsedPersistence {
  readonly database: Database;
  /** `null` if the database has no notifications. */
  readonly notifications: NotificationChannel | null;
  /** Log lines about settings that make durability slow or void. */
  readonly warnings: readonly string[];
  /**
   * Called when the application starts to stop: its calls no longer wait for another process that owns the database, and
   * an application that starts waits for its end.
   */
  startStop?(): void;
  /** Commits pending batches and closes all connections. */
  close(): Promise<void>;
}

/** An open database with a migrated schema. */
export interface OpenPersistence extends UsedPersistence {
  readonly dataSource: DataSource;
}
