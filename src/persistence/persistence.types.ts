import type { DataSource, EntitySchema, MigrationInterface } from 'typeorm';
import type { Database } from './database.js';
import type { NotificationChannel } from './notification-channel.js';

/** What the modules bring into the one schema; explicit classes, in the order of their migrations' timestamps. */
export interface PersistenceOptions {
  readonly entities: readonly (Function | EntitySchema)[];
  readonly migrations: readonly (new () => MigrationInterface)[];
}

/** A database that is open, its schema up to date. */
export interface OpenPersistence {
  readonly database: Database;
  readonly dataSource: DataSource;
  /** Where the database can carry notifications. */
  readonly notifications: NotificationChannel | null;
  /** One line each, for the log: what makes the promise of durability slow or untrue. */
  readonly warnings: readonly string[];
  /** Commits what still waits, and closes everything. */
  close(): Promise<void>;
}
