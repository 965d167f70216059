import { describe, expect, it } from 'vitest';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

describe('a quoted value', () => {
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

  it('is refused in a key file, and in a tool secret', () => {
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

  it('is passed unchanged as a text for a model, and loses the quotes of a .env file', () => {
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
  ])('is cut before a complete endpoint, with a warning: %s', (given, cut, endpoint) => {
    const { config, warnings } = loadConfig({ env: { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: given } });
    expect(config.llm.access['openai']?.baseUrl).toBe(cut);
    expect(warnings).toEqual([
      `OPENAI_BASE_URL ends with ${endpoint}, which Jackdaw adds itself: the ending is removed; give the base URL alone`,
    ]);
  });

  it.each(['http://x/v1', 'http://x/v1/?a=/messages', 'http://x/my-messages', 'http://x/responses/v1'])(
    'is unchanged: %s',
    (url) => {
      const { config, warnings } = loadConfig({ env: { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: url } });
      expect([config.llm.access['openai']?.baseUrl, warnings]).toEqual([url, []]);
    },
  );
});

describe('files named by the configuration', () => {
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

  it.each(FILES)('may start with a byte order mark: %s', (name, text) => {
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
  it('may start with a byte order mark', () => {
    const { config } = loadConfig({ env: {}, envFile: `\uFEFFAPI_KEYS=ci:acme:user:${HASH}\r\nPORT=1234\r\n` });
    expect([config.security.apiKeys.length, config.server.port]).toEqual([1, 1234]);
  });

  it('reports each line that is no assignment, together with all other errors', () => {
    expect(mistakes({ PORT: 'x' }, 'LLM_MODEL=m\nAPI_KEYS: secret\n# x\nsecret\n')).toEqual([
      '.env: line 2 is neither an assignment (NAME=value) nor a comment (#)',
      '.env: line 4 is neither an assignment (NAME=value) nor a comment (#)',
      'PORT: "x" is not allowed: give an integer from 0 to 65535',
    ]);
  });

  it('has no byte order mark at the first name when another program has loaded it', () => {
    expect(loadConfig({ env: { '\uFEFFPORT': '1234' } }).config.server.port).toBe(1234);
  });

  it('is refused by name when it is UTF-16', () => {
    const before = process.cwd();
    process.chdir(mkdtempSync(join(tmpdir(), 'jackdaw-test-')));
    try {
      writeFileSync('.env', Buffer.from('\uFEFFAPI_KEYS=x', 'utf16le'));
      expect(() => readConfig()).toThrow(/^\.env cannot be read \(it is UTF-16, .*save it as UTF-8\)/);
      writeFileSync('.env', '\uFEFFPORT=1234');
      expect(readConfig({ PORT: undefined }).config.server.port).toBe(1234);
    } finally {
      process.chdir(before);
    }
  });
});
