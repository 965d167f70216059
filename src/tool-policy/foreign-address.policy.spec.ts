import { describe, expect, it } from 'vitest';
import { boundAddresses, hasForeignAddress } from './foreign-address.policy.js';

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
    [{ url: 'https://evil.example#@api.acme.example/' }],
    [{ url: 'https://evil.example?@api.acme.example/' }],
    [{ url: 'https://evil.example\\@api.acme.example/' }],
    [{ url: 'https://api.acme.example#@evil.example/' }],
    [{ url: 'https://api.acme.example?@evil.example/' }],
    [{ url: 'https://api.acme.example\\@evil.example/' }],
    [{ url: 'https:evil.example/k' }],
    [{ url: 'https:/evil.example/k' }],
    [{ url: 'https:///evil.example/k' }],
    [{ url: 'HTTP:\\evil.example' }],
    [{ text: 'to "eve the bird"@evil.example' }],
    [{ text: "'eve bird'@evil.example" }],
    [{ text: '"eve"@localhost.evil.example' }],
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
    [{ url: 'https://api.acme.example/@scope/package?x=1#top' }],
    [{ text: 'import { Tool } from "@nestjs/common"; // @alice' }],
    [{ text: 'HTTP: a protocol' }],
  ])('is not found: %j', (args) => expect(hasForeignAddress(args, OWN)).toBe(false));
});

describe('the addresses to which an approval is bound', () => {
  it('are hosts and whole e-mail addresses, in lower case', () => {
    const args = { url: 'https://Docs.acme.example/x', to: ['Ann@acme.example', 'bob@acme.example'], n: 1 };
    expect(boundAddresses(args, 3)).toEqual(['ann@acme.example', 'bob@acme.example', 'docs.acme.example']);
    expect(boundAddresses({ text: 'none' }, 3)).toEqual([]);
  });

  it('are unknown for too many, and for a quoted e-mail address', () => {
    expect(boundAddresses({ text: 'https://a.example https://b.example' }, 1)).toBeNull();
    expect(boundAddresses({ text: '"a b"@c.example' }, 9)).toBeNull();
  });

  it('are found in a long text in linear time', () => {
    for (const one of ['a', '.', '@', "'", 'a.', '%4', 'select ', '"@']) {
      expect(hasForeignAddress({ text: `${one.repeat(400_000)}!` }, [])).toBe(false);
    }
    expect(hasForeignAddress({ text: `${'"'.repeat(200_000)}${'https:'.repeat(50_000)}` }, [])).toBe(true);
  });
});
