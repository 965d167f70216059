import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../src/config/index.js';
import { OutgoingClient } from '../src/security/egress/index.js';
import { selfSignedCertificate } from './support/certificate.factory.js';
import { newFolder } from './support/jackdaw.js';
import { buildIfStale, killAll, ServerProcess } from './support/process.js';
import { WebServer } from './support/web-server.js';

const API = 'api.example';

describe('an outgoing call over TLS', () => {
  let folder: string;
  let server: WebServer;
  let expired: WebServer;
  /** Path of the trusted certificates: those of both servers. */
  let authorities: string;
  beforeAll(async () => {
    buildIfStale();
    folder = newFolder();
    authorities = join(folder, 'ca.pem');
    const own = selfSignedCertificate([API]);
    const old = selfSignedCertificate([API], -1);
    server = await WebServer.start('127.0.0.1', own);
    expired = await WebServer.start('127.0.0.1', old);
    writeFileSync(authorities, own.cert + old.cert);
  });
  beforeEach(() => {
    for (const one of [server, expired]) {
      one.reset();
      one.json('/', { said: 'hello' });
    }
  });
  afterAll(async () => {
    await killAll();
    await server.close();
    await expired.close();
    rmSync(folder, { recursive: true });
  });

  const at = (path = '/', { port } = server, host = API) => `https://${host}:${port}${path}`;

  /** Outcomes of calls in a process that trusts these authorities. */
  async function callsOf(urls: readonly string[], allow = '127.0.0.1'): Promise<readonly string[]> {
    const env = { NODE_EXTRA_CA_CERTS: authorities, OUTGOING_ALLOW: allow, CALLS: urls.join(' ') };
    const child = ServerProcess.start('test/support/tls-calls.mjs', env);
    expect(await child.ended).toEqual({ code: 0, signal: null });
    return child.lines;
  }

  it('refuses an untrusted certificate, and reports it', async () => {
    const client = new OutgoingClient(loadConfig({ env: { OUTGOING_ALLOW: '127.0.0.1' } }).config.security.outgoing, {
      lookup: (_name, _options, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]),
    });
    const code = 'DEPTH_ZERO_SELF_SIGNED_CERT';
    await expect(client.send({ url: at(), method: 'GET', headers: { authorization: 'canary' } })).rejects.toMatchObject(
      {
        code: 'OUTGOING_FAILED',
        isRetryable: false,
        message:
          `${API}:${server.port} cannot be trusted: its certificate is refused (${code}); ` +
          'an operator can have Node.js trust its authority with NODE_EXTRA_CA_CERTS.',
      },
    );
    await client.close();
    expect(server.requests).toEqual([]);
  });

  it('accepts a certificate of a trusted authority, at the resolved address, for the requested name', async () => {
    expect(await callsOf([at(), at()])).toEqual(['{"said":"hello"}', '{"said":"hello"}']);
    const seen = { servername: API, headers: { host: `${API}:${server.port}` } };
    expect(server.requests).toMatchObject([seen, seen]);
  });

  it('refuses a certificate of another name, an expired certificate, and a server without TLS', async () => {
    const plain = await WebServer.start();
    expect(await callsOf([at('/', server, 'other.example'), at('/', server, '127.0.0.1'), at('/', expired)])).toEqual([
      `other.example:${server.port} cannot be trusted: its certificate is refused (ERR_TLS_CERT_ALTNAME_INVALID).`,
      `127.0.0.1:${server.port} cannot be trusted: its certificate is refused (ERR_TLS_CERT_ALTNAME_INVALID).`,
      `${API}:${expired.port} cannot be trusted: its certificate is refused (CERT_HAS_EXPIRED).`,
    ]);
    const [outcome] = await callsOf([at('/', plain)]);
    expect(outcome).toContain(`TLS handshake with ${API}:${plain.port} failed (E`);
    await plain.close();
    expect([server, expired, plain].flatMap(({ requests }) => requests)).toEqual([]);
  });

  it('connects to no address that is not allowed, whatever certificate it has', async () => {
    const before = server.connections;
    const [outcome] = await callsOf([at()], '127.0.0.2');
    expect(outcome).toContain(
      `${API} resolves to an address that is not public (loopback), and calls to it are not allowed`,
    );
    expect(server.connections).toBe(before);
  });

  it('follows no redirect to http, and others to https as they are', async () => {
    const plain = await WebServer.start();
    const lead = (path: string, location: string) =>
      server.on(path, (_request, reply) => void reply.writeHead(307, { location }).end());
    lead('/down', `http://${API}:${plain.port}/`);
    lead('/on', '/');
    lead('/away', at('/', expired));
    const [down, on, away] = await callsOf([at('/down'), at('/on'), at('/away')], `127.0.0.1,${API}:${expired.port}`);
    expect(down).toBe(`${API}:${server.port} redirects from https to http, which is refused.`);
    expect(on).toBe('{"said":"hello"}');
    expect(away).toContain('its certificate is refused (CERT_HAS_EXPIRED)');
    expect(plain.connections).toBe(0);
    await plain.close();
  });
});
