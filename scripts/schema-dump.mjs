// Dumps databases with runs of this code, for the test of upgrades: test/fixtures/schemas/<version>/.
//                                                      npm run schema:dump -- 0.2.0 [--root ../checkout-of-the-version]
// With --root the code of another built checkout writes them. PostgreSQL and MariaDB are those of the tests.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';

const { values, positionals } = parseArgs({
  options: { root: { type: 'string', default: '.' } },
  allowPositionals: true,
});
const [version = ''] = positionals;
if (!/^\d+\.\d+\.\d+$/.test(version)) {
  console.error('Name the version of the code: npm run schema:dump -- 0.2.0');
  process.exit(1);
}
const POSTGRES = process.env.TEST_POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres';
const MARIADB = process.env.TEST_MYSQL_URL ?? 'mysql://root@127.0.0.1:3306/mysql';
const NAME = `jackdaw_dump_${process.pid}`;
const target = resolve('test/fixtures/schemas', version);
const root = resolve(values.root);
const folder = mkdtempSync(join(tmpdir(), 'jackdaw-dump-'));

/** Asks for the tool that the question names, once for each step; then answers. */
const model = createServer((request, response) => {
  // Jackdaw also tries the Responses API.
  if (!request.url.endsWith('/chat/completions')) {
    response.writeHead(404).end();
    return;
  }
  let text = '';
  request.on('data', (piece) => (text += piece));
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(replyTo(JSON.parse(text))));
  });
});

function replyTo({ messages }) {
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  const [, tool, steps] = /(\w+_step) (\d+)/.exec(messages[asked].content) ?? [];
  const done = messages.slice(asked).filter(({ role }) => role === 'tool').length;
  const call = { name: tool, arguments: JSON.stringify({ step: done + 1 }) };
  const message =
    done < Number(steps ?? 0)
      ? { role: 'assistant', content: null, tool_calls: [{ id: `call-${done}`, type: 'function', function: call }] }
      : { role: 'assistant', content: 'all done' };
  const choice = { index: 0, message, finish_reason: message.tool_calls ? 'tool_calls' : 'stop' };
  const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };
  return { id: 'x', object: 'chat.completion', created: 0, model: 'gpt-5', choices: [choice], usage };
}

/** The place and the programs of each database. */
const DATABASES = {
  sqlite: {
    variables: {},
    dump: () => {
      const Database = createRequire(import.meta.url)('better-sqlite3-v13');
      const database = new Database(join(folder, 'sqlite/jackdaw.db'));
      database.exec(`VACUUM INTO '${join(folder, 'copy.db')}'`);
      database.close();
      return readFileSync(join(folder, 'copy.db'));
    },
    file: 'sqlite.db.gz',
  },
  postgres: {
    create: () => run('psql', '-q', POSTGRES, '-c', `CREATE DATABASE ${NAME} ENCODING 'UTF8' TEMPLATE template0`),
    variables: { DATABASE_URL: withName(POSTGRES) },
    dump: () => run('pg_dump', '--no-owner', '--no-privileges', withName(POSTGRES)),
    drop: () => run('psql', '-q', POSTGRES, '-c', `DROP DATABASE ${NAME} WITH (FORCE)`),
    file: 'postgres.sql.gz',
  },
  mariadb: {
    create: () => run('mariadb', ...login(), '-e', `CREATE DATABASE ${NAME} CHARACTER SET utf8mb4`),
    variables: { DATABASE_URL: withName(MARIADB) },
    dump: () => run('mariadb-dump', ...login(), '--single-transaction', '--skip-comments', NAME),
    drop: () => run('mariadb', ...login(), '-e', `DROP DATABASE ${NAME}`),
    file: 'mariadb.sql.gz',
  },
};

function run(program, ...args) {
  return execFileSync(program, args, { maxBuffer: 64 * 2 ** 20 });
}

function withName(server) {
  return Object.assign(new URL(server), { pathname: `/${NAME}` }).href;
}

function login() {
  const { hostname, port, username, password } = new URL(MARIADB);
  return ['-h', hostname, '-P', port || '3306', '-u', username, ...(password ? [`-p${password}`] : [])];
}

/** Starts the server with tools of the tests. */
async function start(kind, variables) {
  const data = join(folder, kind);
  mkdirSync(data, { recursive: true });
  const child = spawn(process.execPath, ['test/support/crash-app.mjs'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env.PATH,
      DATA_DIR: data,
      EFFECTS_FILE: join(data, 'effects'),
      LLM_PROVIDER: 'openai',
      OPENAI_API_KEY: 'test',
      OPENAI_BASE_URL: `http://127.0.0.1:${model.address().port}/v1`,
      LLM_MODEL: 'gpt-5',
      LOG_LEVEL: 'error',
      BLOCK_AT: 'idempotent_step 3',
      ...variables,
    },
  });
  const lines = createInterface({ input: child.stdout });
  const seen = [];
  lines.on('line', (line) => seen.push(line));
  const until = async (prefix) => {
    while (!seen.some((line) => line.startsWith(prefix))) {
      if (child.exitCode !== null) throw new Error(`The server ended with ${child.exitCode} before "${prefix}".`);
      await once(lines, 'line');
    }
    return seen.find((line) => line.startsWith(prefix)).slice(prefix.length);
  };
  const url = await until('ready ');
  const post = async (path, body) => {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  return { child, post, until };
}

/** Two turns of a session, a run that waits for an approval, and a run that is killed in its third step. */
async function fill(kind, variables) {
  const { child, post, until } = await start(kind, variables);
  const ended = once(child, 'exit');
  try {
    const first = await post('/api/agent/chat', { query: 'read_step 2' });
    await post('/api/agent/chat', { query: 'How are you?', sessionId: first.session_id });
    const waiting = await post('/api/agent/chat', { query: 'approved_step 1' });
    const interrupted = await post('/api/agent/runs', { query: 'idempotent_step 5' });
    await until('performing idempotent_step 3');
    const [session, completed] = [first.session_id, first.run_id];
    return { session, completed, waiting: waiting.run_id, interrupted: interrupted.run_id };
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}

async function dumpAll() {
  const runs = {};
  for (const [kind, { create, variables, dump, drop, file }] of Object.entries(DATABASES)) {
    create?.();
    try {
      runs[kind] = await fill(kind, variables);
      writeFileSync(join(target, file), gzipSync(dump(), { level: 9 }));
    } finally {
      drop?.();
    }
    console.log(`${file}: ${JSON.stringify(runs[kind])}`);
  }
  writeFileSync(join(target, 'runs.json'), `${JSON.stringify(runs, null, 2)}\n`);
}

model.listen(0, '127.0.0.1');
await once(model, 'listening');
mkdirSync(target, { recursive: true });
try {
  await dumpAll();
} finally {
  model.close();
  model.closeAllConnections();
  rmSync(folder, { recursive: true });
}
