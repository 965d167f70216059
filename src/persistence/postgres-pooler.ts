import type { Client } from 'pg';
import { messageOf } from '../errors/index.js';

/** Comparisons of sessions: other clients of a busy pooler may hide that it shares them. */
const ROUNDS = 5;
/** Names of `-c name=value` and `--name=value`. Names with a dot are not listed by the server. */
const OPTION = /(?:^|\s)(?:-c\s*|--)([\w-]+)\s*=/g;

/**
 * The fault of a pooler, such as pgbouncer, that does not give each client a session of its own, and its remedy;
 * `undefined` without a pooler, and for one that does. LISTEN, locks, parameters and prepared statements need a session.
 * @param client a new connection
 * @param options `options` of its URL
 * @param open opens another connection
 */
export async function poolerFault(
  client: Client,
  options: string,
  open: () => Promise<Client>,
): Promise<string | undefined> {
  // A pooler invents the process id that it reports to its client.
  if ((await sessionOf(client)) === (client as Client & { processID?: number }).processID) return undefined;
  if (await sharesSessions(client, open)) {
    const mode = await modeOf(client);
    return `its pooler (pgbouncer) runs in ${mode} mode, which changes the session of a client between its statements: set pool_mode=session there, or connect to PostgreSQL directly`;
  }
  const dropped = await droppedOptions(client, options);
  if (dropped.length === 0) return undefined;
  return `its pooler drops options of DATABASE_URL (${dropped.join(', ')}): set them for the user instead (ALTER ROLE … SET …)`;
}

/** Whether another client gets the session of this one, or another session with its next transaction. */
async function sharesSessions(client: Client, open: () => Promise<Client>): Promise<boolean> {
  const other = await open();
  try {
    const ours = await sessionOf(client);
    const theirs = await sessionOf(other);
    if (ours === theirs) return true;
    for (let round = 0; round < ROUNDS; round++) {
      // Two in a row: a pooler that takes turns gives them different sessions.
      if ((await sessionOf(other)) !== theirs || (await sessionOf(other)) !== theirs) return true;
      if ((await sessionOf(client)) !== ours) return true;
    }
    return false;
  } finally {
    await other.end().catch(() => undefined);
  }
}

async function sessionOf(client: Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]!.pid;
}

/** In statement mode pgbouncer refuses transactions of several statements. */
async function modeOf(client: Client): Promise<'statement' | 'transaction'> {
  try {
    await client.query('BEGIN');
    await client.query('ROLLBACK');
    return 'transaction';
  } catch (error) {
    return /statement pooling/.test(messageOf(error)) ? 'statement' : 'transaction';
  }
}

async function droppedOptions(client: Client, options: string): Promise<string[]> {
  const names = [...options.matchAll(OPTION)].map(([, name]) => name!.toLowerCase().replaceAll('-', '_'));
  if (names.length === 0) return [];
  const { rows } = await client.query<{ name: string }>(
    `SELECT name FROM pg_settings WHERE source IN ('client', 'session') AND lower(name) = ANY($1::text[])`,
    [names],
  );
  const set = new Set(rows.map(({ name }) => name.toLowerCase()));
  return names.filter((name) => !set.has(name));
}
