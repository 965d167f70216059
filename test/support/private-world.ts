import { afterAll, beforeAll, describe } from 'vitest';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createApp } from '../../src/server/bootstrap.js';
import type { AppError } from '../../src/errors/index.js';
import { loadConfig, type DatabaseKind } from '../../src/config/index.js';
import { Database } from '../../src/persistence/index.js';
import { ReencryptionService, type ReencryptionReport } from '../../src/security/encryption/reencryption.service.js';
import { FakeLlm } from './fake-llm.js';
import { Forks } from './forks.js';
import { newFolder, startJackdaw, type Jackdaw } from './jackdaw.js';
import { describeDatabases, type TestDatabase, type TestServer } from './test-databases.js';
import { WaitingTools } from './waiting.tool.js';

const TABLES = {
  sqlite: `SELECT name FROM sqlite_master WHERE type = 'table'`,
  postgres: `SELECT table_schema || '.' || table_name AS name FROM information_schema.tables
    WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('pg_catalog', 'information_schema')`,
  mariadb: 'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()',
};

/** An entry of `ENCRYPTION_KEYS`. */
export function newKey(id: string): string {
  return `${id}:${randomBytes(32).toString('base64')}`;
}

/** A server that is restarted repeatedly over one database, each time with its own keys. */
export class PrivateWorld {
  readonly tools = new WaitingTools();
  readonly forks: () => Forks = () => new Forks(this.jackdaw);
  private current: Jackdaw | undefined;

  private constructor(
    readonly llm: FakeLlm,
    private readonly folder: string,
    private readonly url: string,
  ) {}

  static async create({ kind, url }: TestDatabase): Promise<PrivateWorld> {
    const folder = newFolder();
    return new PrivateWorld(await FakeLlm.start(), folder, kind === 'sqlite' ? `sqlite:${folder}/private.db` : url);
  }

  get jackdaw(): Jackdaw {
    return this.current!;
  }

  get database(): Database {
    return this.jackdaw.app.get(Database, { strict: false });
  }

  /** Stops the running server, and starts the next one. */
  async start(keys = '', more: Record<string, string> = {}): Promise<Jackdaw> {
    await this.halt();
    this.current = await startJackdaw({
      llm: this.llm,
      tools: [this.tools],
      dataDir: this.folder,
      env: { ...this.env(keys), ...more },
    });
    return this.current;
  }

  /** The error of a start with these keys; empty if it would succeed. */
  async refusal(keys: string): Promise<string> {
    await this.halt();
    const { config } = loadConfig({ env: { DATA_DIR: this.folder, LLM_PROVIDER: 'offline', ...this.env(keys) } });
    const app = await createApp({ config, logStream: { write: () => undefined } });
    try {
      await app.init();
      return '';
    } catch (error) {
      return (error as AppError).message;
    } finally {
      await app.close();
    }
  }

  async halt(): Promise<void> {
    await this.current?.stop();
    this.current = undefined;
  }

  async end(): Promise<void> {
    await this.halt();
    await this.llm.close();
    rmSync(this.folder, { recursive: true });
  }

  reencrypt(): Promise<ReencryptionReport> {
    return this.jackdaw.app.get(ReencryptionService, { strict: false }).rewriteAll();
  }

  /** The content of all tables, as text. */
  async stored(): Promise<string> {
    const tables = await this.database.query<{ name: string }>(TABLES[this.database.dialect]);
    const rows = await Promise.all(tables.map(({ name }) => this.database.query<object>(`SELECT * FROM ${name}`)));
    return rows
      .flat(2)
      .flatMap((row) => Object.values(row) as unknown[])
      .map((value) => (Buffer.isBuffer(value) ? value.toString('utf8') : String(value)))
      .join('\n');
  }

  private env(keys: string): Record<string, string> {
    return { DATABASE_URL: this.url, ENCRYPTION_KEYS: keys };
  }

  /** The bytes of all database files, if the database consists of files. */
  files(): string {
    const names = readdirSync(this.folder);
    return names.map((name) => readFileSync(join(this.folder, name)).toString('latin1')).join('\n');
  }
}

/** Tests on each database with a world, which ends before its database is dropped. */
export function describeWorlds(
  title: string,
  servers: readonly TestServer[],
  define: (world: () => PrivateWorld, kind: DatabaseKind) => void,
): void {
  describeDatabases(title, servers, (created, kind) => {
    describe('in a whole application', () => {
      let world: PrivateWorld;
      beforeAll(async () => {
        world = await PrivateWorld.create(created());
      });
      afterAll(() => world.end());
      define(() => world, kind);
    });
  });
}
