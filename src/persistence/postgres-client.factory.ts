import { callbackify } from 'node:util';
import type { Client, ClientConfig } from 'pg';
import { loadPackage } from '../errors/index.js';

/** The driver of PostgreSQL. @throws AppError `CONFIG_INVALID` if it is not installed */
export function loadPostgres() {
  return loadPackage('pg', 'PostgreSQL', () => import('pg'));
}

/** Parameters of a session by name, in the server's syntax. */
export type SessionParameters = Readonly<Record<string, string>>;

type Callback = (error: Error | null) => void;

/**
 * The driver's connection class, for any pool, with an error listener: without one, an error of a connection in use
 * would end the process. Its pending queries fail anyway.
 * @param parameters set by a statement after connecting, as poolers refuse or drop those of the startup packet. RESET
 *   returns to the defaults of the server, not to these
 */
export async function loadPostgresClient(parameters: SessionParameters = {}): Promise<typeof Client> {
  const { default: pg } = await loadPostgres();
  const values = Object.entries(parameters).flat();
  const calls = values.flatMap((_, at) => (at % 2 === 0 ? `set_config($${at + 1}, $${at + 2}, false)` : []));
  return class extends pg.Client {
    constructor(config?: string | ClientConfig) {
      super(config);
      this.on('error', ignore);
    }

    /** BullMQ removes the listeners of a connection before its end, which may be an error. */
    override removeAllListeners(event?: string | symbol): this {
      return super.removeAllListeners(event).on('error', ignore);
    }

    override connect(): Promise<Client>;
    override connect(callback: Callback): void;
    override connect(callback?: Callback): Promise<Client> | void {
      if (!callback) return this.connectAndSet();
      callbackify(() => this.connectAndSet())(callback);
    }

    private async connectAndSet(): Promise<Client> {
      await super.connect();
      if (calls.length === 0) return this;
      try {
        await this.query(`SELECT ${calls.join(', ')}`, values);
      } catch (error) {
        this.end().catch(() => undefined);
        throw error;
      }
      return this;
    }
  };
}

function ignore(): void {
  // The pending queries of the connection fail.
}
