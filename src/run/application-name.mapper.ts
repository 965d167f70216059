import type { DatabaseConfig } from '../config/index.js';

/** The prefix that separates applications in a shared Redis: the name of their database. */
export function applicationName({ url = 'sqlite:/local' }: DatabaseConfig): string {
  return new URL(url).pathname.slice(1).replaceAll(/\W/g, '_');
}
