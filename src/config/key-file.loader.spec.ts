import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig, readConfig } from './config.loader.js';

const HASH = 'a'.repeat(64);
let dir: string;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'jackdaw-secrets-'));
});
afterAll(() => rm(dir, { recursive: true }));

async function file(name: string, text: string): Promise<string> {
  const path = join(dir, name);
  await writeFile(path, text);
  return path;
}

describe('secret files', () => {
  it('give the values of secrets, without the line break at the end', async () => {
    const path = await file('database', 'postgres://u:pass-word@h/d\n');
    const { config, warnings } = loadConfig({ env: { DATABASE_URL_FILE: path } });
    expect(config.database.url).toBe('postgres://u:pass-word@h/d');
    expect(warnings).toEqual([]);
  });

  it('contain one key per line', async () => {
    const path = await file('keys', `a:t:admin:${HASH}\r\nb:t:user:${'b'.repeat(64)}\n`);
    expect(loadConfig({ env: { API_KEYS_FILE: path } }).config.security.apiKeys).toHaveLength(2);
  });

  it('give the secrets of tools', async () => {
    const path = await file('token', 'token-1234\n');
    const env = { TOOL_SECRETS: 'CRM_TOKEN', CRM_TOKEN_FILE: path };
    const { config } = loadConfig({ env });
    expect(config.tool.secrets).toEqual({ CRM_TOKEN: 'token-1234' });
    expect(config.definitionFiles.variables).not.toHaveProperty('CRM_TOKEN');
  });

  it('give the variables of the MCP servers file', async () => {
    const token = await file('mcp-token', 'token-5678\n');
    const servers = {
      mcpServers: { a: { url: 'https://a.example/mcp', headers: { authorization: 'Bearer ${MCP_A}' } } },
    };
    const path = await file('mcp.json', JSON.stringify(servers));
    const { config } = loadConfig({ env: { MCP_SERVERS_FILE: path, MCP_A_FILE: token } });
    expect(config.mcp.file.servers).toMatchObject({ a: { headers: { authorization: 'Bearer token-5678' } } });
    expect(() => loadConfig({ env: { MCP_SERVERS_FILE: path, MCP_A_FILE: join(dir, 'absent') } })).toThrow(
      /MCP_A_FILE: ".*absent" cannot be used: .*ENOENT/,
    );
  });

  it('are refused beside the variable, when empty, and when absent', async () => {
    const empty = await file('empty', '\n');
    const both = { REDIS_URL: 'redis://h', REDIS_URL_FILE: empty };
    expect(() => loadConfig({ env: both })).toThrow(/REDIS_URL_FILE: .* REDIS_URL is set too: give one of them/);
    expect(() => loadConfig({ env: { ENCRYPTION_KEYS_FILE: empty } })).toThrow('the file is empty');
    expect(() => loadConfig({ env: { API_KEYS_FILE: join(dir, 'absent') } })).toThrow(/API_KEYS_FILE: .*ENOENT/);
  });

  it('give way to a value in code', async () => {
    process.env['REDIS_URL_FILE'] = await file('redis', 'redis://of-the-environment');
    try {
      const env = { REDIS_URL: 'redis://of-the-code', SESSION_STORE: 'redis' };
      expect(readConfig(env).config.database.redisUrl).toBe('redis://of-the-code');
    } finally {
      delete process.env['REDIS_URL_FILE'];
    }
  });
});
