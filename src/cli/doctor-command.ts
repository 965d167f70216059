import { createServer } from 'node:net';
import type { Configuration } from '../config/index.js';
import { JackdawClient } from '../http-client/index.js';
import { EXIT } from './cli.error.js';
import type { Call, Command } from './command.types.js';

interface Check {
  readonly name: string;
  readonly status: 'ok' | 'warning' | 'error';
  readonly detail: string;
}

type Finding = Omit<Check, 'name'>;

/** Largest harmless difference of clocks, in ms. */
const CLOCK_MS = 2_000;
/** Longest wait for an answer, in ms. */
const ANSWER_MS = 5_000;
const STYLES = { ok: 'green', warning: 'yellow', error: 'red' } as const;

/** Checks the environment, the configuration and the services, each with a remedy. */
export const DOCTOR_COMMAND: Command = {
  name: 'doctor',
  summary:
    'Check Node, the configuration, the database, Redis, the model, the clock and the port, or the server of JACKDAW_URL',
  options: { model: { help: 'Also call the model once' } },
  json: '{ ok, checks: [{ name, status, detail }] }',
  run: async (call) => {
    const { readClientTarget } = await import('../config/index.js');
    const { url } = readClientTarget();
    const checks: Check[] = [];
    const add = async (name: string, check: () => Promise<Finding> | Finding) => {
      const found = { name, ...(await settled(check)) };
      checks.push(found);
      if (!call.isJson)
        call.terminal.line(`${found.status.padEnd(7)}  ${name.padEnd(13)}  ${found.detail}`, STYLES[found.status]);
    };
    await add('node', () => ok(`${process.version} on ${process.platform} ${process.arch}`));
    if (url === undefined) await checkHere(call, add);
    else await add('server', () => checkServer(call, url));
    const isOk = checks.every(({ status }) => status !== 'error');
    if (call.isJson) call.terminal.json({ ok: isOk, checks });
    return isOk ? EXIT.ok : EXIT.failed;
  },
};

type Add = (name: string, check: () => Promise<Finding> | Finding) => Promise<void>;

async function checkHere(call: Call, add: Add): Promise<void> {
  const { readConfig } = await import('../config/index.js');
  let config: Configuration | undefined;
  await add('configuration', () => {
    const { warnings, ...loaded } = readConfig();
    config = loaded.config;
    return warnings.length > 0 ? warning(warnings.join('; ')) : ok('valid');
  });
  if (!config) return;
  const { database, server, llm } = config;
  await add('agents', checkAgents);
  await checkDatabase(database, add);
  for (const [name, url] of redisUrls(config)) await add(name, () => checkRedis(url));
  await add('model', () => (call.flag('model') && llm.provider !== 'offline' ? callModel(llm) : describeModel(llm)));
  await add('port', () => checkPort(server.port, server.host));
}

/** Starts the application on a database in memory: it reads the files of agents, workflows, tools and MCP servers. */
async function checkAgents(): Promise<Finding> {
  const { openLocalServer } = await import('../server/index.js');
  const config = {
    DATABASE_URL: 'sqlite::memory:',
    API_KEYS: '',
    MIGRATE: 'on',
    LOG_LEVEL: 'silent',
    HTTP_PREFIX: '',
    HOST: '127.0.0.1',
  };
  const server = await openLocalServer({ config, executesRuns: false });
  try {
    const { agents } = await new JackdawClient({ baseUrl: 'http://localhost', fetch: server.fetch }).agents.list();
    return ok(`${agents.map(({ name }) => name).join(', ')}: the application starts`);
  } finally {
    await server.close();
  }
}

async function checkDatabase(config: Configuration['database'], add: Add): Promise<void> {
  const [{ readDatabaseStatus }, { STORAGE }] = await Promise.all([
    import('../persistence/index.js'),
    import('../storage-modules.js'),
  ]);
  let clockMs: number | null = null;
  await add('database', async () => {
    const status = await readDatabaseStatus(config, STORAGE);
    clockMs = status.clockMs;
    switch (status.state) {
      case 'ready':
        return ok(`${status.name}: current and writable`);
      case 'new':
        return ok(`${status.name}: will be created at the first start`);
      case 'locked':
        return ok(`${status.name}: a running server owns it; JACKDAW_URL lets doctor check that server`);
      case 'outdated': {
        const text = `${status.name}: ${status.pending.length} pending migrations`;
        return config.migrates
          ? warning(`${text}; the next start applies them: make a backup before (jackdaw backup)`)
          : error(`${text}, and MIGRATE is off: run jackdaw migrate`);
      }
    }
  });
  if (clockMs === null) return;
  const difference: number = clockMs;
  await add('clock', () =>
    Math.abs(difference) <= CLOCK_MS
      ? ok(`differs by ${difference} ms from the database`)
      : error(`differs by ${difference} ms from the database: synchronise both clocks (NTP)`),
  );
}

function redisUrls({ database, session, toolState }: Configuration): Map<string, string> {
  const { store } = session;
  const found = [
    ['redis', database.redisUrl],
    ['redis sessions', store.kind === 'redis' ? store.url : undefined],
    ['redis state', toolState.redis.url],
  ] as const;
  return new Map(found.flatMap(([name, url]) => (url === undefined ? [] : [[name, url] as const])));
}

async function checkRedis(url: string): Promise<Finding> {
  const { createRedisClient } = await import('../persistence/index.js');
  const client = await createRedisClient(url, ANSWER_MS);
  try {
    await client.connect();
    await client.ping();
    return ok('answers');
  } catch (cause) {
    return error(`does not answer (${textOf(cause)}): start it, or correct its URL`);
  } finally {
    client.disconnect();
  }
}

function describeModel({ provider, model }: Configuration['llm']): Finding {
  if (provider !== 'offline') return ok(`${provider}${model === undefined ? '' : `:${model}`} (--model calls it once)`);
  return warning('no provider is configured, the offline model answers: set OPENAI_API_KEY=… or LLM_PROVIDER=ollama');
}

/** The first check of the probe. */
async function callModel(llm: Configuration['llm']): Promise<Finding> {
  const [{ Logger }, { ModelProbe }] = await Promise.all([import('@nestjs/common'), import('../llm/index.js')]);
  Logger.overrideLogger(false);
  const probe = new ModelProbe(llm);
  const stop = new AbortController();
  let found = error('the probe found nothing');
  try {
    await probe.run(stop.signal, ({ outcome, detail }) => {
      const isFine = outcome === 'ok' || outcome === 'adapted';
      found = isFine ? ok(detail) : error(`${detail}; jackdaw probe has more checks`);
      stop.abort();
    });
  } catch (cause) {
    if (!stop.signal.aborted) throw cause;
  } finally {
    await probe.close();
  }
  return found;
}

/** A used port is a warning: it may be the server of this folder. */
function checkPort(port: number, host: string): Promise<Finding> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const text = `${host}:${port} cannot be opened (${cause.code})`;
      resolve(
        cause.code === 'EADDRINUSE'
          ? warning(`${host}:${port} is in use: by a running server, or set another PORT`)
          : error(`${text}: set PORT or HOST`),
      );
    });
    server.listen(port, host, () => server.close(() => resolve(ok(`${host}:${port} is free`))));
  });
}

async function checkServer(call: Call, url: string): Promise<Finding> {
  const connection = await call.connect();
  const health = await connection.read('/api/health/ready');
  const { agents } = await connection.client.agents.list();
  const text = `${url} answers; agents: ${agents.length}`;
  return health.ok ? ok(text) : error(`${text}, but it is not ready: see its log and /api/health/ready`);
}

async function settled(check: () => Promise<Finding> | Finding): Promise<Finding> {
  try {
    return await check();
  } catch (cause) {
    return error(textOf(cause));
  }
}

function textOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

const ok = (detail: string): Finding => ({ status: 'ok', detail });
const warning = (detail: string): Finding => ({ status: 'warning', detail });
const error = (detail: string): Finding => ({ status: 'error', detail });
