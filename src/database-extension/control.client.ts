import type { DataSource } from 'typeorm';
import { closeOwnDataSource } from './data-source.factory.js';
import { initialiseDataSource } from '../persistence/index.js';

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
