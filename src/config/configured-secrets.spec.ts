import { describe, expect, it } from 'vitest';
import { loadConfig } from './config.loader.js';
import { ConfiguredSecrets } from './configured-secrets.js';

const ONE = 'q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA=';
const OTHER = Buffer.alloc(32, 7).toString('base64');

describe('the secrets of a configuration', () => {
  it.each([
    [{ OPENAI_API_KEYS: 'first-key,second-key' }, ['first-key', 'second-key']],
    [{ LLM_SIGNING_KEYS: `a:${ONE},b:${OTHER}` }, [ONE, OTHER]],
    [{ TOOL_STATE_REDIS_URL: 'redis://:state-pass@host' }, ['redis://:state-pass@host', 'state-pass']],
    [{ SESSION_STORE: 'redis://:turn-pass@host' }, ['redis://:turn-pass@host', 'turn-pass']],
    [{ SESSION_STORE: 'mariadb://u:turn-pass@host/db' }, ['turn-pass']],
    [{ MCP_STDIO_KEY: 'own-stdio-key' }, ['own-stdio-key']],
    [{ DATABASE_URL: 'postgres://u:data%40pass@host/db' }, ['data%40pass', 'data@pass']],
    [{ REDIS_URL: 'redis://:queue^pass@host' }, ['queue^pass']],
    [{ REDIS_URL: 'redis://:100%pass@host' }, ['100%pass']],
    [{ LLM_BASE_URL: 'https://u:gateway-pass@host/v1', LLM_MODEL: 'm' }, ['gateway-pass']],
    [
      {
        LLM_BASE_URL: 'https://g.example/v1',
        LLM_MODEL: 'm',
        LLM_HEADERS: '{"authorization":"Bearer my-gateway-secret-123","cookie":"a=first-value; b=\\"second-value\\""}',
      },
      ['Bearer my-gateway-secret-123', 'my-gateway-secret-123', 'first-value', 'second-value'],
    ],
  ])('include those of %j', (env, secrets) => {
    const { values } = ConfiguredSecrets.of(loadConfig({ env }).config);
    expect(values).toEqual(expect.arrayContaining(secrets));
  });

  it('exclude the words of a header that is no secret', () => {
    const { config } = loadConfig({
      env: {
        LLM_BASE_URL: 'https://g.example/v1',
        LLM_MODEL: 'm',
        LLM_HEADERS: '{"x-title":"My application","x-gateway":"Own k-12345678"}',
      },
    });
    const { values } = ConfiguredSecrets.of(config);
    expect(values).toEqual(expect.arrayContaining(['My application', 'k-12345678']));
    expect(values).not.toContain('application');
  });

  it('exclude an empty password of a database', () => {
    expect(ConfiguredSecrets.of(loadConfig({ env: {} }).config).values).toEqual([]);
    const { config } = loadConfig({ env: { DATABASE_URL: 'sqlite:./x.db' } });
    expect(ConfiguredSecrets.of(config).values).toEqual(['sqlite:./x.db']);
  });
});
