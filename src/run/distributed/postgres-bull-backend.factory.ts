import type { PgPool, PostgresConnection, PostgresQueueBackend, Queue, QueueBaseOptions, Worker } from 'bullmq';
import { Log } from '../../errors/index.js';
import { createSessionPool, type Database } from '../../persistence/index.js';
import type { BullBackend } from './bull-backend.types.js';

type Bull = typeof import('bullmq');
type ListenClient = Awaited<ReturnType<PostgresConnection['getListenClient']>>;
type Place = NonNullable<Database['place']>;

/** The schema of BullMQ's own tables in the journal's PostgreSQL; the schema of the journal follows. */
const SCHEMA = 'jackdaw_queue_';
/** PostgreSQL's code of a missing right. */
const NO_RIGHT = '42501';
const logger = new Log('RunQueue');

/**
 * BullMQ on PostgreSQL. By default each queue has a connection and each worker has three; here they share a pool of
 * which one connection listens.
 * @param connections the size of the pool, at least 2
 */
export async function openPostgresBackend(
  bull: Bull,
  place: Place,
  leaseMs: number,
  connections: number,
): Promise<BullBackend> {
  const schema = `${SCHEMA}${place.key}`;
  // BullMQ's transactions take several round trips: a process frozen in one holds its locks for one lease at most.
  const parameters = { search_path: schema, idle_in_transaction_session_timeout: String(leaseMs) };
  const pool = await createSessionPool(place.connection, parameters, connections, 'jackdaw queue');
  try {
    await migrate(bull, pool, schema);
    const connection = connectionIn(bull, pool, schema);
    await connection.waitUntilReady();
    const { Queue, Worker } = bull.withBackend((name, options: QueueBaseOptions<PgPool>) =>
      sharedBackend(bull, connection, name, options),
    );
    return {
      DelayedError: bull.DelayedError,
      queue: async (name) => {
        await assertReachable(pool);
        return new Queue(name, { connection: pool }) as unknown as Queue;
      },
      worker: async (name, processor, options) => {
        await assertReachable(pool);
        return new Worker(name, processor, { ...options, connection: pool }) as unknown as Worker;
      },
      close: async () => {
        await connection.close();
        await pool.end();
      },
    };
  } catch (error) {
    await pool.end();
    throw error;
  }
}

/** Workers without the schema spin on an error. BullMQ admits one process at a time. */
async function migrate(bull: Bull, pool: PgPool, schema: string): Promise<void> {
  const client = await pool.connect();
  try {
    await bull.runMigrations(client, schema);
  } catch (error) {
    // Without the right to create schemas, an existing one works.
    if ((error as { code?: unknown }).code !== NO_RIGHT) throw error;
    logger.warn(
      `The user of the database may not create the schema ${schema} of the run queue, or update its tables: grant CREATE on the database`,
    );
  } finally {
    client.release();
  }
}

/** BullMQ's connection reads the schema from the settings of a pool that it creates itself; this pool is ours. */
function connectionIn(bull: Bull, pool: PgPool, schema: string): PostgresConnection {
  const connection = new (class extends bull.PostgresConnection {
    override readonly schema = schema;
    private readonly queued = new WeakSet<ListenClient>();

    override async getListenClient(): Promise<ListenClient> {
      const client = await super.getListenClient();
      if (!this.queued.has(client)) queueQueries(client);
      this.queued.add(client);
      return client;
    }
  })(pool);
  // Each queue and each worker listens to its events.
  return connection.setMaxListeners(0);
}

/** Workers listen at the same time, on one client; the driver deprecates a query before the end of another. */
function queueQueries(client: ListenClient): void {
  const query: ListenClient['query'] = client.query.bind(client);
  let last: Promise<unknown> = Promise.resolve();
  client.query = <Found>(text: string, params?: readonly unknown[]) => {
    const result = last.then(() => query<Found>(text, params));
    last = result.catch(() => undefined);
    return result;
  };
}

/** The backend of one queue or worker. Its end does not end the connection, which others use. */
function sharedBackend(
  bull: Bull,
  connection: PostgresConnection,
  name: string,
  options: QueueBaseOptions<PgPool>,
): PostgresQueueBackend {
  return new (class extends bull.PostgresQueueBackend {
    override async close(): Promise<void> {
      this.closing ??= this.disconnectBlocking();
      await this.closing;
    }

    override async disconnect(): Promise<void> {
      await this.disconnectBlocking();
    }
  })(connection, name, options, true);
}

/** BullMQ repeats failed calls of a worker after 15 s: it must not start while the server does not answer. */
async function assertReachable(pool: PgPool): Promise<void> {
  await pool.query('SELECT 1');
}
