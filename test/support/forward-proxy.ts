import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';

/**
 * An HTTP proxy (RFC 9110, 9.3.6 and RFC 9112, 3.2.2): forwards `http://` requests and opens tunnels. It alone resolves
 * names: every name under `.example` is this machine.
 */
export class ForwardProxy {
  /** Method and target of each request, such as `CONNECT model.example:443`. */
  readonly seen: string[] = [];
  /** Credentials that it demands, as `user:password`. */
  credentials: string | undefined;

  private constructor(private readonly server: Server) {
    server.on('request', (incoming, outgoing) => {
      this.seen.push(`${incoming.method} ${incoming.url}`);
      if (!this.admits(incoming.headers['proxy-authorization'])) return outgoing.writeHead(407).end();
      const { hostname, port, pathname, search } = new URL(incoming.url!);
      const { method, headers } = incoming;
      const onward = request({ host: resolved(hostname), port, path: pathname + search, method, headers });
      onward.on('response', (reply) => reply.pipe(outgoing.writeHead(reply.statusCode!, reply.headers)));
      onward.on('error', () => outgoing.destroy());
      return incoming.pipe(onward);
    });
    server.on('connect', (incoming, client) => {
      this.seen.push(`CONNECT ${incoming.url}`);
      client.on('error', () => undefined);
      if (!this.admits(incoming.headers['proxy-authorization'])) return client.end('HTTP/1.1 407 No\r\n\r\n');
      const { hostname, port } = new URL(`http://${incoming.url}`);
      const target = connect(Number(port), resolved(hostname), () => {
        client.write('HTTP/1.1 200 OK\r\n\r\n');
        target.pipe(client).pipe(target);
      });
      return target.on('error', () => client.destroy());
    });
  }

  static async start(): Promise<ForwardProxy> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new ForwardProxy(server);
  }

  get url(): string {
    const { port } = this.server.address() as AddressInfo;
    return `http://${this.credentials ? `${this.credentials}@` : ''}127.0.0.1:${port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private admits(given: string | undefined): boolean {
    const { credentials } = this;
    return credentials === undefined || given === `Basic ${Buffer.from(credentials).toString('base64')}`;
  }
}

function resolved(hostname: string): string {
  return hostname.endsWith('.example') ? '127.0.0.1' : hostname;
}
