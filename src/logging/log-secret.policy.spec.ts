import { describe, expect, it } from 'vitest';
import { ConfiguredSecrets, loadConfig } from '../config/index.js';
import { createRedaction } from './log-secret.policy.js';

const KEY = 'q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA=';
const { config } = loadConfig({
  env: {
    OPENAI_API_KEY: 'a(very)"odd"key$',
    GLM_API_KEY: 'short',
    DEEPSEEK_API_KEY: 'deep-key-1',
    DATABASE_URL: 'sqlite:./private.db',
    ENCRYPTION_KEYS: `k1:${KEY}`,
    TOOL_SECRETS: 'CRM_TOKEN',
    CRM_TOKEN: 'crm/token+1',
  },
});
const redact = createRedaction(ConfiguredSecrets.of(config));

describe('a line of the log', () => {
  it('has no configured secret, also one with characters that JSON escapes, and stays JSON', () => {
    const line = JSON.stringify({ msg: 'a(very)"odd"key$ and deep-key-1deep-key-1', url: 'sqlite:./private.db' });
    expect(JSON.parse(redact(line))).toEqual({ msg: '[redacted] and [redacted][redacted]', url: '[redacted]' });
  });

  it('has no secret of a tool', () => {
    expect(redact('{"msg":"crm/token+1"}')).toBe('{"msg":"[redacted]"}');
  });

  it('has no encryption key', () => {
    expect(redact(`ENCRYPTION_KEYS=k1:${KEY}`)).toBe('ENCRYPTION_KEYS=k1:[redacted]');
  });

  it.each([
    ['Authorization: Bearer eyJhbGciOi.J9_x-y+z/==', 'Authorization: Bearer [redacted]'],
    ['bearer abcdefgh, twice bearer abcdefgh', 'bearer [redacted], twice bearer [redacted]'],
    ['the key sk-proj-0123456789 is wrong', 'the key [redacted] is wrong'],
    [`jd_${'x'.repeat(43)}`, '[redacted]'],
    ['{"call":{"apiKey":"a\\"b","n":1}}', '{"call":{"apiKey":"[redacted]","n":1}}'],
    ['{"headers":{"authorization":"Basic YTpi"}}', '{"headers":{"authorization":"[redacted]"}}'],
    ['at https://user:hunter2@host/v1', 'at https://[redacted]@host/v1'],
    ['at db://user:hun/ter@2@host/v1', 'at db://[redacted]@host/v1'],
  ])('has nothing that looks like one: %s', (text, output) => {
    expect(redact(text)).toBe(output);
  });

  it.each([
    'send it as `Authorization: Bearer <key>`',
    'a task-oriented, risk-averse short sketch',
    'http://127.0.0.1:3000/api/runs/x@y',
    'import sk-learn-pipeline-example2 and fit it',
  ])('keeps everything else: %s', (text) => {
    expect(redact(text)).toBe(text);
  });
});
