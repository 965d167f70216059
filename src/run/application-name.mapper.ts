import type { AppConfig } from '../config/index.js';

/** What tells applications apart that share a Redis: the name of their database. */
export function applicationName({ database }: AppConfig): string {
  return new URL(database.url ?? 'sqlite:/local').pathname.slice(1).replaceAll(/\W/g, '_');
}
