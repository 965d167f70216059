import type { Client, ClientConfig } from 'pg';

/**
 * The driver's connection, for any pool. One that breaks while it is in use fails what it was asked; it would also end
 * the process if nothing listened to its errors.
 */
export async function loadPostgresClient(): Promise<typeof Client> {
  const { default: pg } = await import('pg');
  return class extends pg.Client {
    constructor(config?: string | ClientConfig) {
      super(config);
      this.on('error', () => undefined);
    }
  };
}
