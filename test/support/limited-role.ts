import { afterAll, beforeAll } from 'vitest';
import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import type { TestDatabase } from './test-databases.js';

/** A user of a PostgreSQL database, without the rights of a superuser, for whom no limit holds. */
export class LimitedRole {
  readonly name = `jackdaw_role_${randomBytes(6).toString('hex')}`;
  private admin!: Client;

  constructor(private readonly database: () => TestDatabase) {}

  /** Call it in a `describe`. */
  static prepare(database: () => TestDatabase): LimitedRole {
    const role = new LimitedRole(database);
    beforeAll(() => role.create());
    afterAll(() => role.drop());
    return role;
  }

  get url(): string {
    const url = new URL(this.database().url);
    url.username = this.name;
    url.password = this.name;
    return url.href;
  }

  /** @param connections -1 for no limit */
  async limit(connections: number): Promise<void> {
    await this.admin.query(`ALTER ROLE ${this.name} CONNECTION LIMIT ${connections}`);
  }

  async limitDatabase(connections: number): Promise<void> {
    const name = new URL(this.url).pathname.slice(1);
    await this.admin.query(`ALTER DATABASE ${name} CONNECTION LIMIT ${connections}`);
  }

  /** Ends its connections. */
  async disconnect(): Promise<void> {
    await this.admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1', [this.name]);
  }

  private async create(): Promise<void> {
    this.admin = new Client(this.database().url);
    await this.admin.connect();
    await this.admin.query(`CREATE ROLE ${this.name} LOGIN PASSWORD '${this.name}'`);
    await this.admin.query(`GRANT ALL ON DATABASE ${new URL(this.url).pathname.slice(1)} TO ${this.name}`);
    await this.admin.query(`GRANT ALL ON SCHEMA public TO ${this.name}`);
  }

  private async drop(): Promise<void> {
    await this.disconnect();
    await this.admin.query(`DROP OWNED BY ${this.name} CASCADE`);
    await this.admin.query(`DROP ROLE ${this.name}`);
    await this.admin.end();
  }
}
