import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** The behaviour of the network: forwards, delays, refuses and cuts connections, or forwards nothing. */
export type NetworkState = 'pass' | 'cut' | 'silent';

/** A TCP proxy in front of a server, which a test makes fail. */
export class FaultProxy {
  private state: NetworkState = 'pass';
  private readonly pairs = new Set<readonly [Socket, Socket]>();
  private readonly server: Server;
  readonly port: number;

  // No parameter properties: the benches import this file, whose types Node removes.
  private constructor(server: Server, port: number) {
    this.server = server;
    this.port = port;
  }

  /** @param target `host:port` of the server */
  static async start(target: URL, defaultPort: number): Promise<FaultProxy> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const proxy = new FaultProxy(server, (server.address() as AddressInfo).port);
    server.on('connection', (near) => proxy.forward(near, target.hostname, Number(target.port || defaultPort)));
    return proxy;
  }

  /** The URL of the server through this proxy. */
  through(url: string): string {
    const changed = new URL(url);
    changed.hostname = '127.0.0.1';
    changed.port = String(this.port);
    return changed.href;
  }

  become(state: NetworkState): void {
    this.state = state;
    for (const [near, far] of this.pairs) {
      if (state === 'cut') near.destroy();
      else if (state === 'silent') [near, far].forEach((socket) => socket.pause());
      // Bytes that were lost leave a connection unusable.
      else near.destroy();
    }
  }

  /** Loses the connections, of which neither end is notified, as a gateway does after a long silence. New ones work. */
  lose(): void {
    for (const pair of this.pairs) for (const socket of pair) socket.pause();
  }

  async close(): Promise<void> {
    for (const [near] of this.pairs) near.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private forward(near: Socket, host: string, port: number): void {
    near.on('error', () => undefined);
    if (this.state === 'cut') {
      near.resetAndDestroy();
      return;
    }
    const far = connect(port, host);
    const pair = [near, far] as const;
    this.pairs.add(pair);
    far.on('error', () => near.destroy());
    near.on('close', () => {
      far.destroy();
      this.pairs.delete(pair);
    });
    far.on('close', () => near.destroy());
    near.on('data', (chunk) => this.state !== 'silent' && far.write(chunk));
    far.on('data', (chunk) => this.state !== 'silent' && near.write(chunk));
  }
}
