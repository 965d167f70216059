import type { DataSource, DataSourceOptions } from 'typeorm';
import { onConnection, type ReadConnection } from './connection.executor.js';
import { ControlClient } from './control.client.js';
import { closeOwnDataSource, createOwnDataSource } from './data-source.factory.js';
import { DatabaseReader, type ReadLimits, type ReadParameter, type RowSet } from './database-reader.js';
import { notOpened } from './read.error.js';
import { serverAddress, type ServerProduct } from './server-address.parser.js';
import { initialiseDataSource } from '../persistence/index.js';

/** A statement written by a model. */
export interface GivenRead {
  readonly sql: string;
  readonly parameters: readonly ReadParameter[];
}

/**
 * Reads a database server on connections of its own. A separate control connection stops statements that exceed their
 * limits.
 */
export abstract class ServerDatabaseReader<Connection> extends DatabaseReader {
  protected readonly source: DataSource;
  protected readonly control: ControlClient;
  private readonly address: string;

  /** @param changes settings that differ from the given data source */
  constructor(options: DataSourceOptions, product: ServerProduct, changes: object) {
    super();
    this.address = serverAddress(options, product);
    this.source = createOwnDataSource(options, changes);
    this.control = new ControlClient(createOwnDataSource(options, changes, 1));
  }

  async open(): Promise<void> {
    try {
      await initialiseDataSource(this.source);
      await this.assertRights();
    } catch (error) {
      throw notOpened(this.address, error);
    }
  }

  read(sql: string, parameters: readonly ReadParameter[], limits: ReadLimits): Promise<RowSet> {
    return onConnection(
      this.source,
      limits,
      (connection: Connection) => this.wrap(connection),
      (connection) => this.readOnce(connection, { sql, parameters }, limits),
    );
  }

  async close(): Promise<void> {
    await Promise.all([closeOwnDataSource(this.source), this.control.close()]);
  }

  /** @throws AppError `CONFIG_INVALID` if its role has more rights than reading this database */
  protected abstract assertRights(): Promise<void>;

  protected abstract wrap(connection: Connection): ReadConnection<Connection>;

  /** Leaves no session state on the connection. */
  protected abstract readOnce(connection: Connection, read: GivenRead, limits: ReadLimits): Promise<RowSet>;
}
