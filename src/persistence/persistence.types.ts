import type { DataSource, EntitySchemaOptions, MigrationInterface } from 'typeorm';
import type { Database } from './database.js';
import type { MigrationOptions } from './migration.executor.js';
import type { NotificationChannel } from './notification-channel.js';

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
  /** Called when the shutdown starts: calls no longer wait for another process that owns the database. */
  endWaits?(): void;
  /** Commits pending batches and closes all connections. */
  close(): Promise<void>;
}

/** An open database with a migrated schema. */
export interface OpenPersistence extends UsedPersistence {
  readonly dataSource: DataSource;
}
