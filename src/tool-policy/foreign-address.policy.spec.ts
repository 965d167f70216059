import { describe, expect, it } from '@jest/globals';
import { hasForeignAddress } from './foreign-address.policy.js';

const OWN = ['api.acme.example'];

describe('a foreign address in arguments', () => {
  it.each([
    [{ url: 'https://evil.example/?k=1' }],
    [{ text: 'look at HTTP://evil.example' }],
    [{ text: 'https:\\\\evil.example' }],
    [{ a: [{ b: ['ftp://evil.example'] }] }],
    [{ 'https://evil.example': 1 }],
    [{ path: '//evil.example/share' }],
    [{ path: '\\\\evil.example\\share' }],
    [{ host: 'evil.example', path: '/k' }],
    [{ q: 'evil.example/k' }],
    [{ q: 'evil.example:8080' }],
    [{ q: 'secret.evil.md' }],
    [{ q: 'evil.sh/k' }],
    [{ url: 'evil.sh' }],
    [{ q: '10.0.0.1' }],
    [{ q: '[2001:db8::1]' }],
    [{ q: 'localhost:3000' }],
    [{ q: 'eve@evil.example' }],
    [{ q: 'https%3A%2F%2Fevil.example' }],
    [{ q: 'evil。example' }],
    [{ q: 'ｅｖｉｌ．example' }],
    [{ q: 'exa\u200bmple.evil.example' }],
    [{ q: 'müller.example' }],
    [{ q: 'xn--mller-kva.example' }],
    [{ sql: "SELECT load_extension('evil.example')" }],
    [{ sql: "SELECT * FROM read_csv('https://evil.example/x')" }],
    [{ url: 'https://api.acme.example@evil.example/' }],
    [{ url: 'https://api.acme.example.evil.example/' }],
    [{ url: 'file://evil.example/share' }],
  ])('is found: %j', (args) => expect(hasForeignAddress(args, OWN)).toBe(true));

  it.each([
    [{ url: 'https://api.acme.example/v1?x=1', host: 'API.acme.example' }],
    [{ path: '/srv/docs/README.zh-CN.md', pattern: '**/*.spec.ts' }],
    [{ path: 'report.md', files: ['a.py', 'b.tar', 'c.test.ts'] }],
    [{ path: 'C:\\docs\\report.md' }],
    [{ uri: 'file:///srv/docs/report.md' }],
    [{ id: '/vercel/next.js', topic: 'routing' }],
    [{ sql: "SELECT u.id, u.name FROM public.users u WHERE u.state = 'paid'" }],
    [{ text: 'Version 1.2.3 of 2026, e.g. 12:30. Next one' }],
    [{ n: 3, isOn: true, none: null }],
  ])('is not found: %j', (args) => expect(hasForeignAddress(args, OWN)).toBe(false));
});
