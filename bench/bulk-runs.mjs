// Fills a database with copies of recorded runs: each row of a recorded run with new ids and times, so that the copies follow
// the schema. Writes SQLite and PostgreSQL directly, much faster than runs would.
import { createRequire } from 'node:module';
import { Client } from 'pg';

const { idsFrom, dayOf } = await import('../dist/kernel/index.js');

/** Copied tables, with the column of the run's id; sessions have none. */
const TABLES = [
  ['session', null],
  ['session_turn', 'run_id'],
  ['run', 'id'],
  ['run_step', 'run_id'],
  ['run_event', 'run_id'],
  ['run_usage', 'run_id'],
];
const MAP = 'bench_copy';
/** Copied runs of a transaction. */
const AT_ONCE = 50_000;
const MAP_ROWS = 500;
const MAP_COLUMNS = {
  old_run: 'varchar(64)',
  new_run: 'varchar(64)',
  old_session: 'varchar(128)',
  new_session: 'varchar(128)',
  is_first: 'integer',
  shift: 'bigint',
  day: 'varchar(10)',
  agent: 'varchar(128)',
  principal: 'varchar(128)',
  error_code: 'varchar(64)',
};

function toMarks(sql) {
  let n = 0;
  return sql.replaceAll('?', () => `$${++n}`);
}

/** Opens a database for bulk inserts: `run(sql, params)`, `all(sql)`, `close()`. */
async function open(url) {
  if (url.startsWith('sqlite:')) {
    const Sqlite = createRequire(import.meta.url)('better-sqlite3-v13');
    const handle = new Sqlite(new URL(url).pathname);
    handle.pragma('journal_mode = OFF');
    handle.pragma('synchronous = OFF');
    handle.pragma('cache_size = -400000');
    return {
      columnsOf: async (table) => handle.pragma(`table_info(${table})`).map(({ name, type }) => ({ name, type })),
      run: async (sql, params = []) => handle.prepare(sql).run(...params),
      close: async () => {
        handle.pragma('journal_mode = WAL');
        handle.close();
      },
    };
  }
  const client = new Client(url);
  // The database is dropped with its connections after a failure.
  client.on('error', () => {});
  await client.connect();
  await client.query('SET synchronous_commit = off');
  const { rows } = await client.query(
    "SELECT table_schema FROM information_schema.tables WHERE table_name = 'run_usage'",
  );
  await client.query(`SET search_path = ${rows[0].table_schema}`);
  return {
    columnsOf: async (table) => {
      const sql = `SELECT column_name AS name, data_type AS type FROM information_schema.columns
        WHERE table_name = '${table}' AND table_schema = current_schema() ORDER BY ordinal_position`;
      return (await client.query(sql)).rows;
    },
    run: async (sql, params = []) => client.query(toMarks(sql), params),
    close: () => client.end(),
  };
}

/** Texts that contain no ids. */
const PLAIN = ['tenant', 'name', 'kind', 'subject', 'type', 'status'];
/** Columns with a value of their own in each copy, by table or for all tables. */
const GIVEN = {
  'run.id': 'm.new_run',
  run_id: 'm.new_run',
  'session.id': 'm.new_session',
  'session.owner': 'm.principal',
  session_id: 'CASE WHEN t.session_id = m.old_session THEN m.new_session ELSE t.session_id END',
  principal_id: 'm.principal',
  agent: 'COALESCE(m.agent, t.agent)',
  error_code: 'COALESCE(m.error_code, t.error_code)',
  day: 'm.day',
  unsummed: '1',
};

/** The SQL of a copied column. */
function copied(table, { name, type }) {
  const given = GIVEN[`${table}.${name}`] ?? GIVEN[name];
  if (given) return given;
  const column = `t.${name}`;
  if (/bigint/i.test(type)) return `CASE WHEN ${column} > 1000000000000 THEN ${column} + m.shift ELSE ${column} END`;
  if (!/char|text/i.test(type) || PLAIN.includes(name)) return column;
  return `REPLACE(REPLACE(${column}, m.old_run, m.new_run), m.old_session, m.new_session)`;
}

const newId = (at, n) => `${idsFrom(at)}${String(n).padStart(22, '0')}`;

/** Failed runs among all. */
const EVERY_FAILED = 50;
/** Waiting runs, and runs of a rare agent or with a rare error code: as many in each database. */
const WAITING = 40;
const RARE = 20;

/** The copies of runs, in the order of their times. */
function* copies({ templates: { chats, failed, waiting }, count, from, to }) {
  const [everyWaiting, everyRare] = [Math.floor(count / WAITING), Math.floor(count / RARE)];
  /** Apart from the sessions of the chats, whose turns these runs would disturb. */
  const apart = (n) => (n % everyWaiting === 3 ? waiting : n % EVERY_FAILED === 7 ? failed : null);
  const isRareFailure = (n) => n % (everyRare - (everyRare % EVERY_FAILED)) === 7;
  let session;
  for (let n = 0; n < count; n++) {
    const at = Math.floor(from + ((to - from) * n) / count);
    const turn = n % chats.length;
    if (turn === 0) session = newId(at, 5e9 + n);
    const other = apart(n);
    const template = other ?? chats[turn];
    yield {
      old_run: template.runId,
      new_run: newId(at, n),
      old_session: template.sessionId,
      new_session: other ? newId(at, 6e9 + n) : session,
      is_first: Number(other !== null || turn === 0),
      shift: at - template.at,
      day: dayOf(at),
      agent: n % everyRare === 5 ? 'rare' : null,
      principal: `user-${n % 100}`,
      error_code: isRareFailure(n) ? 'RARE' : null,
    };
  }
}

/**
 * Copies runs.
 * @param url of a database that no application uses
 * @param plan `templates`: recorded runs `{ runId, sessionId, at }`; `count`; `from`, `to`: times of the first and the last run
 * @returns the id of one copied chat
 */
export async function fill(url, plan) {
  const database = await open(url);
  const names = Object.keys(MAP_COLUMNS);
  await database.run(`CREATE TABLE ${MAP} (${names.map((name) => `${name} ${MAP_COLUMNS[name]}`).join(', ')})`);
  const inserts = [];
  for (const [table, runColumn] of TABLES) {
    const columns = await database.columnsOf(table);
    const list = columns.map(({ name }) => name).join(', ');
    const values = columns.map((column) => copied(table, column)).join(', ');
    const on = runColumn === null ? 't.id = m.old_session AND m.is_first = 1' : `t.${runColumn} = m.old_run`;
    inserts.push(`INSERT INTO ${table} (${list}) SELECT ${values} FROM ${MAP} m JOIN ${table} t ON ${on}`);
  }
  const source = copies(plan);
  for (let isOver = false; !isOver;) {
    await database.run('BEGIN');
    await database.run(`DELETE FROM ${MAP}`);
    let rows = [];
    const write = async () => {
      const marks = rows.map(() => `(${names.map(() => '?').join(', ')})`).join(', ');
      if (rows.length > 0) await database.run(`INSERT INTO ${MAP} VALUES ${marks}`, rows.flatMap(Object.values));
      rows = [];
    };
    for (let n = 0; n < AT_ONCE && !isOver; n++) {
      const { value, done } = source.next();
      isOver = done;
      if (value) rows.push(value);
      if (rows.length === MAP_ROWS) await write();
    }
    await write();
    for (const insert of inserts) await database.run(insert);
    await database.run('COMMIT');
  }
  await database.run(`DROP TABLE ${MAP}`);
  await database.close();
}

/** Collects the statistics of PostgreSQL after changes, as its server does in the background. */
export async function collectStatistics(url) {
  if (url.startsWith('sqlite:')) return;
  const database = await open(url);
  await database.run('VACUUM ANALYZE');
  await database.close();
}

/** Bytes of each table with its indexes, by name. @param url of a database */
export async function bytesOf(url) {
  if (url.startsWith('sqlite:')) {
    const Sqlite = createRequire(import.meta.url)('better-sqlite3-v13');
    const handle = new Sqlite(new URL(url).pathname, { readonly: true });
    const sql = `SELECT d.name, s.tbl_name AS owner, SUM(d.pgsize) AS bytes FROM dbstat d JOIN sqlite_schema s ON s.name = d.name
      WHERE d.aggregate = 1 GROUP BY d.name, s.tbl_name`;
    const found = handle.prepare(sql).all();
    handle.close();
    return found;
  }
  const client = new Client(url);
  await client.connect();
  const sql = `SELECT c.relname AS name, COALESCE(t.relname, c.relname) AS owner, pg_relation_size(c.oid)::float8
      + CASE WHEN c.relkind = 'r' AND c.reltoastrelid <> 0 THEN pg_total_relation_size(c.reltoastrelid)::float8 ELSE 0 END AS bytes
    FROM pg_class c LEFT JOIN pg_index i ON i.indexrelid = c.oid LEFT JOIN pg_class t ON t.oid = i.indrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'i') AND n.nspname NOT LIKE 'pg_%' AND n.nspname <> 'information_schema'`;
  const { rows } = await client.query(sql);
  await client.end();
  return rows;
}
