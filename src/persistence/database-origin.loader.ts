import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { newId } from '../kernel/index.js';
import { refusalOf } from './commit-refused.error.js';
import type { Database } from './database.js';
import { DatabaseOrigin } from './database-origin.js';
import { insert } from './statement/statement.factory.js';
import { sidecarOf } from './sqlite-place.js';

/** Facts about the place of a database. */
type Place = Readonly<Record<string, string | null>>;

interface PlaceRule {
  /** The present place. */
  readonly place: Place;
  /** Whether the recorded place is another one. */
  readonly isOther: (recorded: Place) => boolean;
  /** Called when the place is recorded. */
  readonly recorded?: (place: Place) => void;
}

/**
 * Compares the place of the database with the recorded one, and records a new or moved place. A copy is recorded by
 * `adopt` only.
 */
export async function loadOrigin(database: Database): Promise<DatabaseOrigin> {
  const rule = await ruleOf(database);
  if (!rule) return DatabaseOrigin.NEW;
  const text = await recordedText(database);
  const recorded = text === null ? null : (JSON.parse(text) as Place);
  const isOther = recorded !== null && rule.isOther(recorded);
  // A file keeps its id when it is moved; a copy gets another one.
  const place = { ...rule.place, ...(!isOther && recorded?.['id'] && { id: recorded['id'] }) };
  const next = JSON.stringify(place);
  const done = () => rule.recorded?.(place);
  if (isOther) return new DatabaseOrigin(database, text, next, done);
  if (text !== next) await record(database, text, next);
  done();
  return new DatabaseOrigin(database, null, next);
}

async function ruleOf(database: Database): Promise<PlaceRule | null> {
  switch (database.dialect) {
    case 'sqlite':
      return sqliteRule(database);
    case 'postgres':
      return postgresRule(database);
    case 'mariadb':
      return mariadbRule(database);
  }
}

/**
 * A copy has another inode and no id beside it, or another one. The number of the device is not compared: it changes with
 * a reboot or a mount.
 */
async function sqliteRule(database: Database): Promise<PlaceRule | null> {
  const [main] = await database.query<{ file: string }>('PRAGMA database_list');
  if (!main?.file) return null;
  const sidecar = sidecarOf(main.file);
  const id = readId(sidecar);
  const inode = String(statSync(main.file, { bigint: true }).ino);
  return {
    place: { inode, id: newId() },
    isOther: (recorded) => recorded['inode'] !== inode && recorded['id'] !== id,
    recorded: ({ id: current }) => {
      if (current !== id) writeFileSync(sidecar, `${current}\n`, { mode: 0o600 });
    },
  };
}

function readId(sidecar: string): string | null {
  try {
    return readFileSync(sidecar, 'utf8').trim();
  } catch {
    return null;
  }
}

/** A restored dump has another server or another database, and in any case another table. */
async function postgresRule(database: Database): Promise<PlaceRule> {
  const [row] = await database.query<Place>(
    `SELECT oid::text AS database, 'jackdaw_property'::regclass::oid::text AS "table" FROM pg_database WHERE datname = current_database()`,
  );
  // A managed server may forbid the function.
  const [control] = await database
    .query<Place>('SELECT system_identifier::text AS server FROM pg_control_system()')
    .catch(() => [{ server: null }]);
  const place: Place = { server: control!['server'] ?? null, ...row };
  const isOther = (recorded: Place) =>
    Object.entries(place).some(([name, value]) => value !== null && (recorded[name] ?? value) !== value);
  return { place, isOther };
}

/** MariaDB has no id of a server. A copy was created at another time, on another server or under another name. */
async function mariadbRule(database: Database): Promise<PlaceRule> {
  const [row] = await database.query<Place>(
    `SELECT CONCAT(@@hostname, ':', @@port) AS server, DATABASE() AS name, CAST(UNIX_TIMESTAMP(create_time) AS CHAR) AS created
      FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = 'jackdaw_property'`,
  );
  const place = row!;
  const isOther = ({ server, name, created }: Place) =>
    created !== place['created'] && (server !== place['server'] || name !== place['name']);
  return { place, isOther };
}

async function recordedText(database: Database): Promise<string | null> {
  const sql = `SELECT value FROM jackdaw_property WHERE name = 'place'`;
  return (await database.query<{ value: string }>(sql))[0]?.value ?? null;
}

/** Another process may have recorded the same. */
async function record(database: Database, from: string | null, to: string): Promise<void> {
  const change =
    from === null
      ? insert('jackdaw_property', { name: 'place', value: to })
      : { sql: `UPDATE jackdaw_property SET value = ? WHERE name = 'place' AND value = ?`, params: [to, from] };
  await database.commit([change]).catch((error: unknown) => {
    if (refusalOf(error) === null) throw error;
  });
}
