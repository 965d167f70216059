import { describe, expect, it } from 'vitest';
import { AppError } from '../errors/index.js';
import { loadConfig, readConfig, type EnvRecord } from './config.loader.js';
const HASH = 'a'.repeat(64);

function mistakes(env: EnvRecord, envFile?: string): string[] {
  try {
    loadConfig({ env, envFile });
  } catch (error) {
    if (error instanceof AppError && error.code === 'CONFIG_INVALID') return error.details?.['mistakes'] as string[];
    throw error;
  }
  return [];
}

describe('loadConfig', () => {
  it('listens on loopback with the offline model by default', () => {
    const { config, warnings } = loadConfig({ env: {} });
    expect(warnings).toEqual([]);
    expect(Object.fromEntries(Object.entries(config))).toEqual({
      server: expect.objectContaining({ port: 3000, corsOrigins: [], trustProxy: false, hasDocs: true }),
      database: expect.objectContaining({ dataDir: './data', kind: 'sqlite', isShared: false }),
      security: {
        apiKeys: [],
        encryption: { keys: [], isStrict: false },
        accessLog: { isEnabled: false, keptDays: 365 },
        outgoing: { allow: [], ports: [] },
        ownership: 'principal',
      },
      definitionFiles: { hasDefaults: true, variableNames: expect.any(Object), variables: {} },
      tool: { restFiles: [], secrets: {}, builtinTools: expect.any(Array), taintRule: 'facts' },
      toolState: expect.objectContaining({ manager: 'memory', path: 'data/tool-states' }),
      mcp: {
        file: { path: 'config/mcp-servers.json', servers: {} },
        timeoutMs: 60_000,
        maxMessageBytes: 10_485_760,
        isRestOpen: false,
      },
      mcpServer: { isEnabled: true, allowedOrigins: [], maxSessions: 1000, sessionIdleMs: 1_800_000 },
      a2a: { file: { path: 'config/a2a-agents.json', declared: {} }, pollMs: 5000 },
      compatibleApi: { isEnabled: true, onWaiting: 'message', hasA2a: true, areCardsPublic: false },
      webhook: { timeoutMs: 15_000 },
      llm: {
        provider: 'offline',
        protocol: 'auto',
        openAiApi: 'auto',
        timeoutMs: 30_000,
        signingKeys: [],
        resilience: {
          totalTimeoutMs: 0,
          streamIntervalMs: 0,
          connectTimeoutMs: 10_000,
          concurrency: 0,
          queueLimit: 1000,
          breaker: { failures: 5, maxPauseMs: 15_000 },
          retry: { maxAttempts: 3, baseDelayMs: 500, maxDelayMs: 10_000 },
          fallback: [],
        },
        prices: {},
        hasListPrices: false,
        models: {},
        budget: { replyTokens: 1024 },
        tokenCounting: 'auto',
        unsupportedParameters: 'refuse',
        parameters: {},
        access: {
          openai: {},
          anthropic: {},
          azure: { apiVersion: 'v1' },
          deepseek: {},
          glm: {},
          ollama: {},
          'openai-compatible': {},
          offline: {},
        },
      },
      agent: {
        name: 'default',
        skills: ['*'],
        maxTools: 40,
        maxToolTokens: 8000,
        maxIterations: 10,
        runTimeoutMs: 300_000,
        maxResultBytes: 65_536,
        maxDepth: 3,
        maxFileBytes: 5_242_880,
        maxImageBytes: 5_242_880,
        memory: { enabled: true, policy: 'sliding_window', includeToolCalls: true, keepFirst: 10 },
      },
      cache: { kind: 'off', ttlSeconds: 3600, maxBytes: 67_108_864 },
      telemetry: { hasMetrics: true, metricsHost: '127.0.0.1' },
      run: {
        concurrency: 500,
        queueWaitMs: 2000,
        outagePatienceMs: 3_600_000,
        tenantConcurrency: 0,
        agentConcurrency: 0,
        queueLimit: 10_000,
        sessionBusy: 'queue',
        tenantQueueLimit: 0,
        tenantRatePerMinute: 0,
        cluster: { leaseMs: 10_000, checkMs: 2000 },
        retention: { completedDays: 90, failedDays: 90, usageDays: 400 },
        shutdownTimeoutMs: 8000,
      },
      session: { store: { kind: 'own' }, ttlSeconds: 0, hasLongTermMemory: false },
    });
  });

  it('prefers the environment over the .env file, and treats an empty value as not set', () => {
    const { config } = loadConfig({
      env: { PORT: '4000', LLM_MODEL: '', LOG_LEVEL: undefined },
      envFile: 'PORT=5000\nLLM_MODEL=m\nHOST="localhost" # here\nLOG_LEVEL=debug',
    });
    expect(config.server).toMatchObject({ port: 4000, host: 'localhost' });
    expect(config.llm.model).toBeUndefined();
    expect(config.server.logLevel).toBe('debug');
  });

  it.each([
    [{}, false],
    [{ REDIS_URL: 'redis://cache' }, false],
    [{ DATABASE_URL: 'postgres://db/x' }, true],
    [{ DATABASE_URL: 'mariadb://db/x' }, false],
    [{ DATABASE_URL: 'MYSQL://db/x', REDIS_URL: 'redis://cache' }, true],
  ])('enables the cluster for a database that several processes can share: %j', (env, isEnabled) => {
    expect(loadConfig({ env }).config.database.isShared).toBe(isEnabled);
  });

  it('deeply freezes the configuration', () => {
    const { config } = loadConfig({ env: { API_KEYS: `ci:acme:user:${HASH}` } });
    expect(() => Object.assign(config.server, { port: 1 })).toThrow(TypeError);
    expect(() => Object.assign(config.security.apiKeys[0]?.roles ?? {}, { 0: 'admin' })).toThrow(TypeError);
  });

  it('lists all errors at once, with the allowed values', () => {
    expect(
      mistakes({ PORT: '65536', LOG_LEVEL: 'loud', LLM_TEMPERATURE: '2.1', DOCS_ENABLED: 'maybe', HOST: '0.0.0.0' }),
    ).toEqual([
      'PORT: "65536" is not allowed: give an integer from 0 to 65535',
      'LOG_LEVEL: "loud" is not allowed: give one of fatal, error, warn, info, debug, trace, silent',
      'DOCS_ENABLED: "maybe" is not allowed: give true or false',
      'LLM_TEMPERATURE: "2.1" is not allowed: give a number from 0 to 2',
      'HOST: "0.0.0.0" is reachable from other machines, and API_KEYS is not set: set API_KEYS (`npm run key` makes an entry) or use 127.0.0.1',
    ]);
  });

  const PORTS = ['1e3', '0x10', '3.5', '-1', 'abc', '9'.repeat(20)];
  it.each(PORTS)('refuses %s as a port', (PORT) => expect(mistakes({ PORT })).toHaveLength(1));

  it.each([
    [{ SESSION_STORE: 'redis' }, 'needs REDIS_URL'],
    [{ SESSION_STORE: 'tape' }, 'give database, memory, file, redis or a URL'],
    [{ SESSION_STORE: 'http://x' }, 'or a URL'],
    [{ SESSION_STORE: 'file', DATABASE_URL: 'postgres://u:p@host/db' }, 'is shared by many'],
  ])('refuses %j', (env, fault) => {
    const lines = mistakes(env);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^SESSION_STORE: /);
    expect(lines[0]).toContain(fault);
  });

  it.each([
    ['database', { kind: 'own' }],
    ['file', { kind: 'file' }],
    ['redis', { kind: 'redis', url: 'redis://host' }],
    ['redis://other/2', { kind: 'redis', url: 'redis://other/2' }],
    ['mariadb://u:p@host/db', { kind: 'database', url: 'mariadb://u:p@host/db' }],
  ])('stores sessions as configured by %s', (SESSION_STORE, store) => {
    expect(loadConfig({ env: { SESSION_STORE, REDIS_URL: 'redis://host' } }).config.session.store).toEqual(store);
  });

  it('refuses a cost budget without prices', () => {
    const env = { BUDGET_DAY: 'tokens=1,cost=5' };
    expect(mistakes(env)).toEqual([expect.stringMatching(/^BUDGET_DAY: .* needs LLM_PRICES/)]);
    const priced = { ...env, LLM_PRICES: '{"m": {"input": 1, "output": 1}}' };
    expect(loadConfig({ env: priced }).config.llm.budget.day).toEqual({ tokens: 1, cost: 5 });
  });

  it('shows no password of a base URL', () => {
    expect(mistakes({ OPENAI_BASE_URL: 'ftp://u:hunter2@host' })[0]).toContain('"ftp://***@host"');
  });

  it.each([
    ['sqlite:./x.db', 'sqlite'],
    ['sqlite:x.db', 'sqlite'],
    ['sqlite://./x.db', 'sqlite'],
    ['sqlite:///var/x.db', 'sqlite'],
    ['sqlite:/var/x.db', 'sqlite'],
    ['sqlite::memory:', 'sqlite'],
    ['postgres://db/x', 'postgres'],
    ['postgresql://u:p%40ss@db.example:6543/x?sslmode=require&application_name=a', 'postgres'],
    ['postgres://u@[::1]:5432/x', 'postgres'],
    ['postgres://u@%2Fvar%2Frun%2Fpostgresql/x', 'postgres'],
    ['POSTGRES://db/x', 'postgres'],
    ['mysql://u:p@db/x', 'mariadb'],
    ['mariadb://u:p@db:3307/x-y?sslmode=verify-full&sslrootcert=/ca.pem', 'mariadb'],
  ])('accepts %s as a database: %s', (url, kind) => {
    expect(loadConfig({ env: { DATABASE_URL: url } }).config.database).toMatchObject({ kind, url });
  });

  it.each([
    ['sqlite://data/x.db', 'leave it out, or give a SQLite file'],
    ['file.db', 'leave it out, or give a SQLite file'],
    ['mssql://hunter2@db/x', 'leave it out, or give a SQLite file'],
    ['postgres:///hunter2', 'it names no host'],
    ['postgres://u:hunter2@db', 'it names no database'],
    ['mysql://u:hunter2@db/', 'it names no database'],
    ['mariadb://u:hunter2@db/x/y', 'it names no database'],
    ['postgres://u:hun#ter2@db/x', 'it is no URL; write special characters of a password encoded'],
    ['postgres://u:hun/ter2@db/x', 'it is no URL; write special characters of a password encoded'],
    ['postgres://u:100%hunter2@db/x', 'it has a stray %; write special characters of a password encoded'],
    ['mariadb://u:hunter2@db/x?multipleStatements=true', 'it accepts only the parameters sslmode and sslrootcert'],
    ['mariadb://u:hunter2@db/x?sslmode=on', 'its sslmode must be one of disable, require'],
  ])('refuses %s as a database, without a part of it in the message', (url, fault) => {
    const [line, ...others] = mistakes({ DATABASE_URL: url });
    expect(line).toContain(`DATABASE_URL: its value is not allowed: ${fault}`);
    expect([line, ...others].join()).not.toMatch(/hunter2|ter2|hun#/);
    expect(others).toEqual([]);
  });

  it.each(['redis://cache', 'redis://:hunter2@cache:6380/2', 'rediss://u:p@cache/'])('accepts %s as a Redis', (url) => {
    expect(loadConfig({ env: { REDIS_URL: url } }).config.database.redisUrl).toBe(url);
  });

  it.each(['cache:6379', 'redis:///0', 'http://hunter2@cache', 'redis://:hun#ter2@cache', 'redis://cache/hunter2'])(
    'refuses %s as a Redis',
    (url) => {
      const [line] = mistakes({ REDIS_URL: url });
      expect(line).toMatch(/^REDIS_URL: its value is not allowed: give redis:(?!.*ter2)/);
    },
  );

  it('listens beyond loopback with API keys', () => {
    const { config } = loadConfig({
      env: { HOST: '0.0.0.0', API_KEYS: `ci:acme:user|admin:${HASH}, b:acme:user:${'b'.repeat(64)}` },
    });
    expect(config.security.apiKeys[0]).toEqual({ id: 'ci', tenant: 'acme', roles: ['user', 'admin'], sha256: HASH });
    expect(config.security.apiKeys).toHaveLength(2);
  });

  it('names an invalid API key entry by its number, never by its text', () => {
    const lines = mistakes({
      API_KEYS: `ci:acme:user:${HASH},jd_secret,x::user:${HASH},y:acme:user:jd_secret,z:acme:user:${HASH}`,
    });
    expect(lines.map((line) => /entry (\d) (\S+ \S+ \S+)/.exec(line)?.slice(1))).toEqual([
      ['2', 'needs the four'],
      ['3', 'has an id,'],
      ['4', 'has a hash'],
      ['5', 'has the hash'],
    ]);
    expect(lines.join()).not.toMatch(/secret|aaaa/);
  });

  it('accepts a second key of a principal only with the same roles, in any order', () => {
    const other = 'b'.repeat(64);
    const keys = (text: string) => loadConfig({ env: { API_KEYS: text } }).config.security.apiKeys;
    expect(keys(`ci:acme:user|admin:${HASH},ci:acme:admin|user:${other}`)).toHaveLength(2);
    expect(keys(`ci:acme:user:${HASH},ci:other:admin:${other}`)).toHaveLength(2);
    expect(mistakes({ API_KEYS: `ci:acme:user:${HASH},ci:acme:admin:${other}` })).toEqual([
      expect.stringMatching(
        /^API_KEYS: .*entry 2 gives the id "ci" of the tenant "acme" other roles than an earlier entry/,
      ),
    ]);
  });

  it.each([
    ['DATA_DIR', '~/jackdaw'],
    ['DATA_DIR', '~'],
    ['DATABASE_URL', 'sqlite:~/x.db'],
  ])('refuses %s=%s: only a shell expands the ~', (name, value) => {
    expect(mistakes({ [name]: value })[0]).toMatch(/is not allowed: .*without ~/);
  });

  it.each<[EnvRecord, boolean]>([
    [{}, true],
    [{ API_KEYS: `ci:acme:user:${HASH}` }, false],
    [{ API_KEYS: `ci:acme:user:${HASH}`, DOCS_ENABLED: 'true' }, true],
    [{ DOCS_ENABLED: 'false' }, false],
  ])('serves the OpenAPI documents without API keys, or when enabled: %j', (env, enabled) => {
    expect(loadConfig({ env }).config.server.hasDocs).toBe(enabled);
  });

  it('warns about misspelt variables and about variables without effect', () => {
    expect(loadConfig({ env: { OPENAI_APIKEY: 'k' }, envFile: 'LLM_PROVDER=glm\nLLM_MODEL=m' }).warnings).toEqual([
      'LLM_PROVDER is not a variable of Jackdaw and does nothing; did you mean LLM_PROVIDER?',
      'OPENAI_APIKEY is not a variable of Jackdaw and does nothing; did you mean OPENAI_API_KEY?',
      'LLM_MODEL does nothing with the offline model; set LLM_PROVIDER to its provider',
    ]);
  });
});

describe('readConfig', () => {
  it('prefers overrides over the process environment and does not write to it', () => {
    const { config } = readConfig({ PORT: '4321', LLM_MODEL: undefined });
    expect([config.server.port, process.env['PORT']]).toEqual([4321, undefined]);
  });
});
