import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createModelRegistry } from '../model-registry.factory.js';
import { signatureHeaders } from './wire.client.js';

const KEYS: Record<string, Buffer> = { old: randomBytes(32), new: randomBytes(32) };
const REPLY = {
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'admitted' }, finish_reason: 'stop' }],
};
const MAX_AGE_S = 60;

interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Verifies a request as a gateway does: written from RFC 9421 and RFC 9530, independently of the tested code. */
function refusal({ method, url, headers, body }: Received, now = Date.now()): string | null {
  const given = /^sha-256=:(.+):$/.exec(String(headers['content-digest']))?.[1];
  if (given !== createHash('sha256').update(body).digest('base64')) return 'another body';
  const input = /^(\w+)=(\(([^)]*)\);created=(\d+);keyid="([^"]+)";alg="hmac-sha256")$/.exec(
    String(headers['signature-input']),
  );
  if (!input) return 'no signature';
  const [, label, parameters, components, created, id] = input as unknown as string[];
  if (Math.abs(now / 1000 - Number(created)) > MAX_AGE_S) return 'too old';
  const key = KEYS[id!];
  if (!key) return 'unknown key';
  const signature = String(headers['signature']).replace(new RegExp(`^${label}=:(.+):$`), '$1');
  const base = baseOf({ method, url, headers }, components!.split(' '), parameters!);
  return isSigned(base, signature, key) ? null : 'another signature';
}

function baseOf(
  { method, url, headers }: Omit<Received, 'body'>,
  components: readonly string[],
  parameters: string,
): string {
  const { pathname, search } = new URL(url, 'http://gateway');
  const values: Record<string, string> = {
    '"@method"': method,
    '"@path"': pathname,
    '"@query"': search || '?',
    '"content-digest"': String(headers['content-digest']),
  };
  return [...components.map((name) => `${name}: ${values[name]}`), `"@signature-params": ${parameters}`].join('\n');
}

function isSigned(base: string, signature: string, key: Buffer): boolean {
  const expected = createHmac('sha256', key).update(base).digest();
  const given = Buffer.from(signature, 'base64');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

describe('a gateway that verifies signatures', () => {
  const received: Received[] = [];
  let gateway: Server;
  let url = '';
  beforeAll(async () => {
    gateway = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { method = '', url: path = '', headers } = request;
        const one = { method, url: path, headers, body: Buffer.concat(chunks).toString() };
        received.push(one);
        const why = refusal(one);
        response.writeHead(why === null ? 200 : 401, { 'content-type': 'application/json' });
        response.end(JSON.stringify(why === null ? REPLY : { error: { message: why } }));
      });
    });
    await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise((resolve) => gateway.close(resolve)));

  async function ask(keyId: string | null, baseUrl = `${url}/v1`): Promise<string> {
    const signingKey =
      keyId === null ? undefined : { id: keyId, key: (KEYS[keyId] ?? randomBytes(32)).toString('base64') };
    const registry = createModelRegistry(signingKey && { signingKey });
    const model = registry.create({
      provider: 'openai',
      model: 'm',
      apiKey: 'a-key-of-tests',
      baseUrl,
      timeoutMs: 60_000,
    });
    try {
      const { message } = await model.generate({ messages: [{ role: 'user', content: 'straße 🐦' }] });
      return message.content;
    } catch (error) {
      return (error as Error).message;
    } finally {
      await registry.close();
    }
  }

  it('accepts requests signed with any of its keys, and no others', async () => {
    expect(await ask('old')).toBe('admitted');
    expect(await ask('new')).toBe('admitted');
    expect(await ask('other')).toContain('unknown key');
    expect(await ask(null)).toContain('another body');
  });

  it('detects changed and late requests', () => {
    const request = received[0]!;
    const wrong: [Partial<Received>, string][] = [
      [{ body: request.body.replace('straße', 'strasse') }, 'another body'],
      [{ url: '/v1/embeddings' }, 'another signature'],
      [{ url: `${request.url}?x=1` }, 'another signature'],
      [{ method: 'PUT' }, 'another signature'],
      [
        { headers: { ...request.headers, signature: `jackdaw=:${Buffer.alloc(32).toString('base64')}:` } },
        'another signature',
      ],
    ];
    expect(refusal(request)).toBeNull();
    for (const [change, why] of wrong) expect(refusal({ ...request, ...change })).toBe(why);
    expect(refusal(request, Date.now() + 120_000)).toBe('too old');
  });

  it('verifies that the signature includes the query', () => {
    const key = { id: 'new', key: KEYS['new']!.toString('base64') };
    const headers = Object.fromEntries(
      signatureHeaders({ method: 'POST', path: '/a?api-version=1', body: '{}' }, key, Date.now()),
    );
    const one = { method: 'POST', url: '/a?api-version=1', headers, body: '{}' };
    expect(refusal(one)).toBeNull();
    expect(refusal({ ...one, url: '/a?api-version=2' })).toBe('another signature');
  });
});
