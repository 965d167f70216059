import { describe, expect, it } from 'vitest';
import type { McpAuth, McpServer } from '../mcp-server.types.js';
import { safeCause, withoutSecrets } from './secret.filter.js';

function server(headers: Readonly<Record<string, string>>, auth?: McpAuth): McpServer {
  return {
    name: 'one',
    isEnabled: true,
    transport: { kind: 'http', url: 'https://example.com', headers, ...(auth && { auth }) },
    timeoutMs: 1000,
    pins: 'follow',
    scan: 'hide',
    areHintsBelieved: false,
    isPrivate: true,
    isUntrusted: true,
    effects: {},
    isStateful: false,
    isRequired: false,
    source: 'a test',
    origin: 'declared',
  };
}

function program(env: Readonly<Record<string, string>>): McpServer {
  return { ...server({}), transport: { kind: 'stdio', command: 'x', args: [], env } };
}

const PLAIN = server({});
const OAUTH = { type: 'client_credentials', clientId: 'jack', clientSecret: 's3cr3t-of-jack' } as const;

describe('withoutSecrets()', () => {
  it.each([
    ['Not taken: Bearer eyJhbGciOi.J9', PLAIN, 'Not taken: Bearer [redacted]'],
    ['basic amFjazpkYXc= is wrong', PLAIN, 'basic [redacted] is wrong'],
    ['jack:s3cr3t-of-jack', server({}, OAUTH), 'jack:[redacted]'],
    ['the key k-12345678 has expired', server({ 'X-Key': 'k-12345678' }), 'the key [redacted] has expired'],
    [
      'token abcdef twice: abcdef',
      server({}, { type: 'bearer', token: 'abcdef' }),
      'token [redacted] twice: [redacted]',
    ],
    ['token abcdWXYZsecret9', server({ Authorization: 'Bearer abcdWXYZsecret9' }), 'token [redacted]'],
    ['no sid-val-12345678', server({ Cookie: 'sid=sid-val-12345678; theme=x' }), 'no [redacted]'],
    ['no /wJalrXUtnFEMIK7MDENG', program({ AWS_SECRET: '/wJalrXUtnFEMIK7MDENG' }), 'no [redacted]'],
  ])('hides a secret: %s', (text, of, shown) => {
    expect(withoutSecrets(new Error(text), of)).toBe(shown);
    expect((safeCause(new Error(text), of) as Error).message).toBe(shown);
  });

  it.each([
    ['only the jwt-bearer grant is supported 2', PLAIN],
    ['Bearer token is missing', PLAIN],
    ['on the line', server({ 'X-Line': 'on' })],
    ['no file /etc/app.json', program({ CONFIG: '/etc/app.json' })],
  ])('returns other texts unchanged: %s', (text, of) => {
    const error = new Error(text);
    expect([withoutSecrets(error, of), safeCause(error, of)]).toEqual([text, error]);
  });

  it('limits the length, and never cuts inside a secret', () => {
    expect(withoutSecrets(new Error('x'.repeat(5000)), PLAIN)).toHaveLength(1000);
    expect(withoutSecrets(new Error(`${'x'.repeat(995)}s3cr3t-of-jack`), server({}, OAUTH))).not.toContain('s3c');
  });
});
