import type { Client, ClientConfig } from 'pg';
import { loadPackage } from '../errors/index.js';

/** The driver of PostgreSQL. @throws AppError `CONFIG_INVALID` if it is not installed */
export function loadPostgres() {
  return loadPackage('pg', 'PostgreSQL', () => import('pg'));
}

/**
 * The driver's connection class, for any pool, with an error listener: without one, an error of a connection in use
 * would end the process. Its pending queries fail anyway.
 */
export async function loadPostgresClient(): Promise<typeof Client> {
  const { default: pg } = await loadPostgres();
  return class extends pg.Client {
    constructor(config?: string | ClientConfig) {
      super(config);
      this.on('error', () => undefined);
    }
  };
}
