import { DataSource, type DataSourceOptions } from 'typeorm';
import { initialiseDataSource } from '../persistence/index.js';
import { onConnection, type ReadConnection } from './connection.executor.js';
import { DatabaseReader, type ReadLimits, type ReadParameter, type RowSet } from './database-reader.js';
import { notOpened, unsuitable } from './read.error.js';

/** A database product in URLs and messages. */
export interface ServerProduct {
  readonly title: string;
  readonly protocols: readonly string[];
  readonly port: number;
}

/** The address of one server in TypeORM's options; `url` takes precedence. */
interface Place {
  readonly url?: string;
  readonly host?: string;
  readonly port?: number;
  readonly database?: string;
  readonly socketPath?: string;
}

/**
 * Address of a data source for messages: `PostgreSQL host:port/database`, without user and password.
 * @throws AppError `CONFIG_INVALID` for an invalid URL. The message contains no part of it: any part may be a mistyped
 *   password
 */
export function serverAddress(options: DataSourceOptions, product: ServerProduct): string {
  const { replication } = options as { replication?: { master: Place; slaves: readonly Place[] } };
  const places = replication ? [replication.master, ...replication.slaves] : [options as Place];
  const [address = ''] = places.map((place) => addressOf(place, product));
  return `${product.title} ${address}`;
}

function addressOf(place: Place, product: ServerProduct): string {
  const { host, socketPath } = place;
  if (place.url) return addressOfUrl(place.url, product);
  // With an empty URL the drivers would fall back to defaults.
  if ('url' in place && host === undefined && socketPath === undefined) {
    throw unsuitable('its url is empty: set the variable that it comes from.');
  }
  return socketPath ?? `${host ?? 'localhost'}:${place.port ?? product.port}/${place.database ?? ''}`;
}

function addressOfUrl(text: string, { title, protocols, port }: ServerProduct): string {
  const url = isDecodable(text) ? URL.parse(text) : null;
  if (!url || !protocols.includes(url.protocol) || isSplit(url)) {
    throw unsuitable(
      `its url is not a ${title} URL: give ${protocols[0]}//user:password@host/database, with special characters of the password encoded, such as %40 for @ and %23 for #.`,
    );
  }
  return `${url.hostname || 'localhost'}:${url.port || port}${url.pathname}`;
}

/** Whether an unencoded password was parsed as a later part of the URL. */
function isSplit({ username, pathname, search, hash }: URL): boolean {
  return hash !== '' || !/^\/?[^/@]*$/.test(pathname) || (username === '' && search.includes('@'));
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** The connection that stops statements of other connections. The first stop opens it, once for concurrent stops. */
export class ControlClient {
  private opening: Promise<unknown> | null = null;
  private isClosed = false;

  /** @param source not opened yet */
  constructor(private readonly source: DataSource) {}

  async query(sql: string, parameters: unknown[] = []): Promise<void> {
    if (this.isClosed) throw new Error('The database is closed.');
    await (this.opening ??= this.open());
    await this.source.query(sql, parameters);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.opening?.catch(() => undefined);
    await closeOwnDataSource(this.source);
  }

  private async open(): Promise<void> {
    try {
      await initialiseDataSource(this.source);
    } catch (error) {
      // The next call opens it again.
      this.opening = null;
      throw error;
    }
  }
}

/** Maximum number of concurrent reads. */
const CONNECTIONS = 2;

/**
 * Creates a data source with the same settings, own connections and no entities. Session state left by a query cannot
 * reach other users of the database.
 * @param changes dialect-specific settings
 */
export function createOwnDataSource(
  options: DataSourceOptions,
  changes: object,
  connections = CONNECTIONS,
): DataSource {
  return new DataSource({
    ...options,
    entities: [],
    migrations: [],
    subscribers: [],
    synchronize: false,
    dropSchema: false,
    migrationsRun: false,
    cache: false,
    poolSize: connections,
    ...changes,
  } as DataSourceOptions);
}

/** Closes a data source, also a partly opened one: its driver may have connections even if `initialize` failed. */
export async function closeOwnDataSource(source: DataSource): Promise<void> {
  if (source.isInitialized) await source.destroy();
  else await source.driver.disconnect().catch(() => undefined);
}

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
