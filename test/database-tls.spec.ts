import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { loadConfig } from '../src/config/index.js';
import { openPersistence } from '../src/persistence/shared-persistence.registry.js';
import { selfSignedCertificate } from './support/certificate.factory.js';
import { newFolder } from './support/jackdaw.js';
import { describeDatabases, testServers } from './support/test-databases.js';

Logger.overrideLogger(false);
const servers = (await testServers()).filter(({ kind }) => kind === 'postgres');
/** The code of PostgreSQL's SSLRequest (https://www.postgresql.org/docs/current/protocol-message-formats.html). */
const SSL_REQUEST = 80_877_103;

type Accepted = 'tls' | 'plain' | 'both';

/** A relay to a PostgreSQL that accepts only some transports. */
class TransportRelay {
  accepted: Accepted = 'both';
  /** The transports of the connections that were accepted. */
  readonly used = new Set<string>();
  private readonly server: Server;

  constructor(
    private readonly target: URL,
    private readonly certificate: { readonly key: string; readonly cert: string },
  ) {
    this.server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', (first) => this.accept(socket, first));
    });
  }

  async listen(): Promise<string> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    const url = new URL(this.target);
    url.host = `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
    return url.href;
  }

  close(): void {
    this.server.close();
  }

  private accept(socket: Socket, first: Buffer): void {
    const asksForTls = first.length === 8 && first.readInt32BE(4) === SSL_REQUEST;
    if (asksForTls && this.accepted === 'plain') {
      socket.write('N');
      socket.once('data', (next) => this.accept(socket, next));
    } else if (asksForTls) {
      socket.write('S');
      const secure = new TLSSocket(socket, { isServer: true, ...this.certificate });
      secure.on('error', () => socket.destroy());
      secure.once('data', (next) => this.relay(secure, next, 'tls'));
    } else if (this.accepted === 'tls') {
      socket.end(refusal('28000', 'no pg_hba.conf entry for host "127.0.0.1", no encryption'));
    } else {
      this.relay(socket, first, 'plain');
    }
  }

  private relay(socket: Socket, first: Buffer, transport: string): void {
    this.used.add(transport);
    const server = connect(Number(this.target.port || 5432), this.target.hostname);
    server.write(first);
    socket.pipe(server).pipe(socket);
    server.on('error', () => socket.destroy());
    socket.on('close', () => server.destroy());
  }
}

/** An ErrorResponse of PostgreSQL. */
function refusal(code: string, message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`);
  const head = Buffer.from('E\0\0\0\0');
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}

describeDatabases('sslmode of DATABASE_URL', servers, (database) => {
  let folder: string;
  let authority: string;
  let relay: TransportRelay;
  let url: string;
  beforeAll(async () => {
    folder = newFolder();
    const certificate = selfSignedCertificate(['db.example']);
    authority = join(folder, 'ca.pem');
    writeFileSync(authority, certificate.cert);
    relay = new TransportRelay(new URL(database().url), certificate);
    url = await relay.listen();
  });
  afterEach(() => relay.used.clear());
  afterAll(() => {
    relay.close();
    rmSync(folder, { recursive: true });
  });

  async function transports(mode: string, accepted: Accepted): Promise<readonly string[] | string> {
    relay.accepted = accepted;
    const params = mode.replace('CA', encodeURIComponent(authority));
    const { config } = loadConfig({ env: { DATABASE_URL: `${url}?sslmode=${params}` } });
    try {
      const opened = await openPersistence(config.database, { entities: [], migrations: [] });
      await opened.database.ping();
      await opened.close();
      return [...relay.used];
    } catch (error) {
      return (error as Error).message;
    }
  }

  it.each<[string, Accepted, string]>([
    ['disable', 'both', 'plain'],
    ['allow', 'both', 'plain'],
    ['prefer', 'both', 'tls'],
    ['prefer', 'plain', 'plain'],
    ['require', 'tls', 'tls'],
    ['require&sslrootcert=CA', 'tls', 'tls'],
    ['verify-ca&sslrootcert=CA', 'tls', 'tls'],
    ['no-verify', 'tls', 'tls'],
  ])('connects with %s to a server that accepts %s: %s', async (mode, accepted, transport) => {
    expect(await transports(mode, accepted)).toEqual([transport]);
  });

  it('connects with allow over TLS to a server that refuses plain connections', async () => {
    expect(await transports('allow', 'tls')).toEqual(['tls']);
  });

  it.each<[string, Accepted, RegExp]>([
    ['require', 'plain', /SSL/],
    ['disable', 'tls', /cannot be opened: it refuses the user/],
    ['verify-full', 'both', /cannot be opened: .*certificate/],
    ['verify-full&sslrootcert=CA', 'both', /cannot be opened: .*(certificate|altnames|Hostname)/i],
  ])('fails with %s on a server that accepts %s', async (mode, accepted, message) => {
    expect(await transports(mode, accepted)).toMatch(message);
    expect([...relay.used]).toEqual([]);
  });
});
