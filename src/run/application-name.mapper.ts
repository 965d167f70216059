import type { DatabaseConfig } from '../config/namespaces/index.js';
import type { Database } from '../persistence/index.js';

/** The schema whose installations have names without it. */
const DEFAULT_SCHEMA = 'public';

/** The prefix that separates applications in a shared Redis: the name of their database, and its schema. */
export function applicationName({ url = 'sqlite:/local' }: DatabaseConfig, place: Database['place']): string {
  const name = new URL(url).pathname.slice(1).replaceAll(/\W/g, '_');
  return place === null || place.schema === DEFAULT_SCHEMA ? name : `${name}_${place.key}`;
}
