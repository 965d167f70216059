import { describe, expect, it } from '@jest/globals';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppError } from '../common/index.js';
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
  it('serves this machine with the offline model when nothing is set', () => {
    const { config, warnings } = loadConfig({ env: {} });
    expect(warnings).toEqual([]);
    expect(Object.fromEntries(Object.entries(config))).toEqual({
      http: { port: 3000, host: '127.0.0.1' },
      dataDir: './data',
      database: { kind: 'sqlite' },
      redis: {},
      auth: { apiKeys: [] },
      agentFiles: { variables: {} },
      workflows: {},
      tools: { restFiles: [], secrets: {} },
      toolState: expect.objectContaining({ manager: 'memory', path: 'data/tool-states' }),
      mcp: {
        file: { path: 'config/mcp-servers.json', servers: {} },
        timeoutMs: 60_000,
        maxMessageBytes: 10_485_760,
        isRestOpen: false,
      },
      mcpServer: { isEnabled: true, allowedOrigins: [], maxSessions: 1000, sessionIdleMs: 1_800_000 },
      outgoing: { allow: [], ports: [] },
      log: { level: 'info' },
      llm: {
        provider: 'offline',
        protocol: 'auto',
        timeoutMs: 30_000,
        signingKeys: [],
        resilience: {
          totalTimeoutMs: 0,
          connectTimeoutMs: 10_000,
          concurrency: 0,
          queueLimit: 1000,
          breaker: { failures: 5, resetMs: 30_000 },
          retry: { maxAttempts: 3, baseDelayMs: 500, maxDelayMs: 60_000 },
          fallback: [],
        },
        prices: {},
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
        maxIterations: 10,
        runTimeoutMs: 300_000,
        maxResultBytes: 65_536,
        maxDepth: 3,
        maxImageBytes: 5_242_880,
        memory: {
          enabled: true,
          policy: 'sliding_window',
          includeToolCalls: true,
          keepFirst: 10,
        },
      },
      cache: { kind: 'off', ttlSeconds: 3600, maxBytes: 67_108_864 },
      longTermMemory: { isEnabled: false },
      cluster: { isEnabled: false, leaseMs: 10_000, checkMs: 2000 },
      run: {
        concurrency: 500,
        tenantConcurrency: 0,
        agentConcurrency: 0,
        queueLimit: 10_000,
        sessionBusy: 'queue',
        tenantQueueLimit: 0,
        tenantRatePerMinute: 0,
      },
      session: { store: { kind: 'own' }, ttlSeconds: 86_400 },
      retention: { completedDays: 90, failedDays: 90, usageDays: 400 },
      encryption: { keys: [], isStrict: false },
      accessLog: { isEnabled: false, keptDays: 365 },
      security: {},
      docs: { enabled: true },
      shutdownTimeoutMs: 8000,
    });
  });

  it('takes the environment over the .env file, and an empty value as not set', () => {
    const { config } = loadConfig({
      env: { PORT: '4000', LLM_MODEL: '', LOG_LEVEL: undefined },
      envFile: 'PORT=5000\nLLM_MODEL=m\nHOST="localhost" # here\nLOG_LEVEL=debug',
    });
    expect(config.http).toEqual({ port: 4000, host: 'localhost' });
    expect(config.llm.model).toBeUndefined();
    expect(config.log.level).toBe('debug');
  });

  it.each([
    [{}, false],
    [{ REDIS_URL: 'redis://cache' }, false],
    [{ DATABASE_URL: 'postgres://db/x' }, true],
    [{ DATABASE_URL: 'mariadb://db/x' }, false],
    [{ DATABASE_URL: 'MYSQL://db/x', REDIS_URL: 'redis://cache' }, true],
  ])('makes a cluster of what several processes can share: %j', (env, isEnabled) => {
    expect(loadConfig({ env }).config.cluster.isEnabled).toBe(isEnabled);
  });

  it('is frozen all the way down', () => {
    const { config } = loadConfig({ env: { API_KEYS: `ci:acme:user:${HASH}` } });
    expect(() => Object.assign(config.http, { port: 1 })).toThrow(TypeError);
    expect(() => Object.assign(config.auth.apiKeys[0]?.roles ?? {}, { 0: 'admin' })).toThrow(TypeError);
  });

  it('lists every mistake at once, with what is allowed', () => {
    expect(
      mistakes({ PORT: '65536', LOG_LEVEL: 'loud', LLM_TEMPERATURE: '2.1', DOCS_ENABLED: 'maybe', HOST: '0.0.0.0' }),
    ).toEqual([
      'PORT: "65536" is not allowed: give an integer from 0 to 65535',
      'LOG_LEVEL: "loud" is not allowed: give one of fatal, error, warn, info, debug, trace, silent',
      'LLM_TEMPERATURE: "2.1" is not allowed: give a number from 0 to 2',
      'DOCS_ENABLED: "maybe" is not allowed: give true or false',
      'HOST: "0.0.0.0" is reached by other machines, and API_KEYS is not set: set API_KEYS (`npm run key` makes an entry) or use 127.0.0.1',
    ]);
  });

  it.each(['1e3', '0x10', '3.5', '-1', 'abc', '9'.repeat(20)])('refuses %s as a port', (PORT) => {
    expect(mistakes({ PORT })).toHaveLength(1);
  });

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
  ])('keeps sessions where %s says', (SESSION_STORE, store) => {
    const { config } = loadConfig({ env: { SESSION_STORE, REDIS_URL: 'redis://host' } });
    expect(config.session.store).toEqual(store);
  });

  it('refuses a budget of costs where nothing has a price', () => {
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
  ])('takes %s as a database: %s', (url, kind) => {
    expect(loadConfig({ env: { DATABASE_URL: url } }).config.database).toEqual({ kind, url });
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
    ['mariadb://u:hunter2@db/x?multipleStatements=true', 'of parameters it may have sslmode and sslrootcert only'],
    ['mariadb://u:hunter2@db/x?sslmode=on', 'its sslmode may be one of disable, require'],
  ])('refuses %s as a database, without a part of it in the message', (url, fault) => {
    const [line, ...others] = mistakes({ DATABASE_URL: url });
    expect(line).toContain(`DATABASE_URL: its value is not allowed: ${fault}`);
    expect([line, ...others].join()).not.toMatch(/hunter2|ter2|hun#/);
    expect(others).toEqual([]);
  });

  it.each(['redis://cache', 'redis://:hunter2@cache:6380/2', 'rediss://u:p@cache/'])('takes %s as a Redis', (url) => {
    expect(loadConfig({ env: { REDIS_URL: url } }).config.redis).toEqual({ url });
  });

  it.each(['cache:6379', 'redis:///0', 'http://hunter2@cache', 'redis://:hun#ter2@cache', 'redis://cache/hunter2'])(
    'refuses %s as a Redis',
    (url) => {
      const [line] = mistakes({ REDIS_URL: url });
      expect(line).toMatch(/^REDIS_URL: its value is not allowed: give redis:/);
      expect(line).not.toMatch(/hunter2|ter2/);
    },
  );

  it('listens beyond loopback once there are keys', () => {
    const { config } = loadConfig({
      env: { HOST: '0.0.0.0', API_KEYS: `ci:acme:user|admin:${HASH}, b:acme:user:${'b'.repeat(64)}` },
    });
    expect(config.auth.apiKeys[0]).toEqual({ id: 'ci', tenant: 'acme', roles: ['user', 'admin'], sha256: HASH });
    expect(config.auth.apiKeys).toHaveLength(2);
  });

  it('names a bad API key entry by its number, never by its text', () => {
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

  it('takes a second key of a principal only with the same roles, in any order', () => {
    const other = 'b'.repeat(64);
    const keys = (text: string) => loadConfig({ env: { API_KEYS: text } }).config.auth.apiKeys;
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
  ])('refuses %s=%s: outside a shell nobody expands the ~', (name, value) => {
    expect(mistakes({ [name]: value })[0]).toMatch(/is not allowed: .*without ~/);
  });

  it.each<[EnvRecord, boolean]>([
    [{}, true],
    [{ API_KEYS: `ci:acme:user:${HASH}` }, false],
    [{ API_KEYS: `ci:acme:user:${HASH}`, DOCS_ENABLED: 'true' }, true],
    [{ DOCS_ENABLED: 'false' }, false],
  ])('serves the documents where everybody is let in anyway, or when told so: %j', (env, enabled) => {
    expect(loadConfig({ env }).config.docs.enabled).toBe(enabled);
  });

  it('warns about near-misses and about what does nothing', () => {
    expect(loadConfig({ env: { OPENAI_APIKEY: 'k' }, envFile: 'LLM_PROVDER=glm\nLLM_MODEL=m' }).warnings).toEqual([
      'LLM_PROVDER is not a variable of Jackdaw and does nothing; did you mean LLM_PROVIDER?',
      'OPENAI_APIKEY is not a variable of Jackdaw and does nothing; did you mean OPENAI_API_KEY?',
      'LLM_MODEL does nothing with the offline model; set LLM_PROVIDER to say whose it is',
    ]);
  });
});

describe('a value in quotes', () => {
  it.each<[string, string]>([
    ['LLM_API_KEY', '"sk-secret"'],
    ['OPENAI_API_KEY', "'sk-secret'"],
    ['ANTHROPIC_API_KEY', '"sk-secret'],
    ['OPENAI_API_KEYS', '"sk-secret,sk-two"'],
    ['OPENAI_API_KEYS', '"sk-secret", "sk-two"'],
    ['GLM_API_KEYS', 'sk-one,`sk-secret`'],
    ['MCP_STDIO_KEY', '"jd_secret"'],
    ['API_KEYS', `"ci:acme:user:${HASH}"`],
    ['ENCRYPTION_KEYS', '"a:secret"'],
    ['DATABASE_URL', '"postgres://u:secret@h/d"'],
    ['REDIS_URL', "'redis://:secret@h'"],
    ['SESSION_STORE', '"redis://:secret@h"'],
    ['LLM_BASE_URL', '"http://x/v1?key=secret"'],
    ['OPENAI_BASE_URL', 'http://x/v1"'],
    ['AZURE_OPENAI_ENDPOINT', "'https://x'"],
    ['OPENAI_API_KEY_FILE', '"/run/key"'],
    ['LLM_MAX_TOKENS', '"100"'],
    ['LLM_MODEL', '"gpt-5"'],
    ['DATA_DIR', '"./data"'],
  ])('is refused: %s=%s', (name, value) => {
    const lines = mistakes({ [name]: value });
    expect(lines.filter((line) => line.includes('has quotes around it, which'))).toEqual([
      expect.stringMatching(new RegExp(`^${name}: .*docker’s --env-file.*leave them out`)),
    ]);
    expect(lines.join()).not.toContain('secret');
  });

  it('is refused in a file of keys, and in the secret of a tool', () => {
    const path = join(mkdtempSync(join(tmpdir(), 'jackdaw-test-')), 'keys');
    writeFileSync(path, '"sk-secret"\r\n');
    const lines = [
      ...mistakes({ OPENAI_API_KEY_FILE: path }),
      ...mistakes({ TOOL_SECRETS: 'CRM_TOKEN', CRM_TOKEN: '"secret-token"' }),
    ];
    expect(lines).toEqual([
      expect.stringMatching(/^OPENAI_API_KEY_FILE: .* a key in the file has quotes around it/),
      expect.stringMatching(/^TOOL_SECRETS: "CRM_TOKEN" has a value in quotes/),
    ]);
    expect(lines.join()).not.toMatch(/secret-token|sk-secret/);
  });

  it('is a text for a model as it is, and loses the quotes of a .env file', () => {
    const env = { AGENT_INSTRUCTIONS: '"Be brief."', LLM_STOP: `"'"` };
    const { config } = loadConfig({ env, envFile: 'LLM_PROVIDER="openai"\nLLM_API_KEY=\'sk-abc\'' });
    expect([config.agent.instructions, config.llm.parameters.stop]).toEqual(['"Be brief."', [`"'"`]]);
    expect(config.llm.access['openai']).toMatchObject({ apiKey: 'sk-abc' });
  });
});

describe('a base URL', () => {
  it.each([
    ['http://x/v1/chat/completions', 'http://x/v1', '/chat/completions'],
    ['http://x/v1/chat/completions/', 'http://x/v1', '/chat/completions'],
    ['http://x/v1/Chat/Completions?api-version=1', 'http://x/v1?api-version=1', '/Chat/Completions'],
    ['http://x/v1/responses', 'http://x/v1', '/responses'],
    ['http://x/v1/messages', 'http://x/v1', '/messages'],
    ['http://x/v1/embeddings?a=b', 'http://x/v1?a=b', '/embeddings'],
    ['http://x/v1/completions', 'http://x/v1', '/completions'],
    ['http://x/messages', 'http://x/', '/messages'],
  ])('is the part before a complete endpoint, with a warning: %s', (given, cut, endpoint) => {
    const { config, warnings } = loadConfig({ env: { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: given } });
    expect(config.llm.access['openai']?.baseUrl).toBe(cut);
    expect(warnings).toEqual([
      `OPENAI_BASE_URL ends with ${endpoint}, which Jackdaw adds itself: it is cut off; give the base URL alone`,
    ]);
  });

  it.each(['http://x/v1', 'http://x/v1/?a=/messages', 'http://x/my-messages', 'http://x/responses/v1'])(
    'is left as it is: %s',
    (url) => {
      const { config, warnings } = loadConfig({ env: { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: url } });
      expect([config.llm.access['openai']?.baseUrl, warnings]).toEqual([url, []]);
    },
  );
});

describe('files that the configuration names', () => {
  const folder = mkdtempSync(join(tmpdir(), 'jackdaw-test-'));
  const file = (name: string, content: string | Uint8Array): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const FILES: readonly (readonly [name: string, text: string])[] = [
    ['LLM_PRICES', '{"m": {"input": 1, "output": 2}}'],
    ['OPENAI_API_KEY_FILE', 'sk-one'],
    ['MCP_SERVERS_FILE', '{"mcpServers": {"s": {"command": "x"}}}'],
  ];

  it.each(FILES)('may begin with a byte order mark: %s', (name, text) => {
    const read = (path: string) => loadConfig({ env: { [name]: path } }).config;
    const path = file('x.txt', text);
    const plain = read(path);
    file('x.txt', `\uFEFF${text.replaceAll('\n', '\r\n')}`);
    expect(read(path)).toEqual(plain);
    expect(plain).not.toEqual(loadConfig({ env: {} }).config);
  });

  it.each(FILES)('may not be UTF-16: %s', (name, text) => {
    const path = file('wide.txt', Buffer.from(`\uFEFF${text}`, 'utf16le'));
    expect(mistakes({ [name]: path })).toEqual([expect.stringMatching(/wide\.txt.*it is UTF-16/)]);
  });
});

describe('the .env file', () => {
  it('may begin with a byte order mark', () => {
    const { config } = loadConfig({ env: {}, envFile: `\uFEFFAPI_KEYS=ci:acme:user:${HASH}\r\nPORT=1234\r\n` });
    expect([config.auth.apiKeys.length, config.http.port]).toEqual([1, 1234]);
  });

  it('names each line that is no assignment, beside all other mistakes', () => {
    expect(mistakes({ PORT: 'x' }, 'LLM_MODEL=m\nAPI_KEYS: secret\n# x\nsecret\n')).toEqual([
      '.env: line 2 is neither an assignment (NAME=value) nor a comment (#)',
      '.env: line 4 is neither an assignment (NAME=value) nor a comment (#)',
      'PORT: "x" is not allowed: give an integer from 0 to 65535',
    ]);
  });

  it('leaves no mark at the first name when another program has loaded it', () => {
    expect(loadConfig({ env: { '\uFEFFPORT': '1234' } }).config.http.port).toBe(1234);
  });

  it('is refused by name when it is UTF-16', () => {
    const before = process.cwd();
    process.chdir(mkdtempSync(join(tmpdir(), 'jackdaw-test-')));
    try {
      writeFileSync('.env', Buffer.from('\uFEFFAPI_KEYS=x', 'utf16le'));
      expect(() => readConfig()).toThrow(/^\.env cannot be read \(it is UTF-16, .*save it as UTF-8\)/);
      writeFileSync('.env', '\uFEFFPORT=1234');
      expect(readConfig({ PORT: undefined }).config.http.port).toBe(1234);
    } finally {
      process.chdir(before);
    }
  });
});

describe('readConfig', () => {
  it('takes overrides over the process environment and writes nothing to it', () => {
    const before = { ...process.env };
    expect(readConfig({ PORT: '4321', LLM_MODEL: undefined }).config.http.port).toBe(4321);
    expect(process.env).toEqual(before);
  });
});
