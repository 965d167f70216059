import type { AppConfig } from '../config/index.js';

/** The prefix that separates applications in a shared Redis: the name of their database. */
export function applicationName({ database }: AppConfig): string {
  return new URL(database.url ?? 'sqlite:/local').pathname.slice(1).replaceAll(/\W/g, '_');
}
