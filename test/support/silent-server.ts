import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** Accepts connections, sends at most an initial text, and then nothing. */
export class SilentServer {
  private readonly sockets: Socket[] = [];

  private constructor(private readonly server: Server) {}

  /**
   * @param said the text that it sends after a request
   * @param isDeaf whether it also reads nothing
   */
  static async start(said = '', isDeaf = false): Promise<SilentServer> {
    const server = createServer({ pauseOnConnect: isDeaf });
    const silent = new SilentServer(server);
    server.on('connection', (socket) => {
      silent.sockets.push(socket);
      socket.on('error', () => undefined);
      if (!isDeaf) socket.once('data', () => void (said && socket.write(said))).resume();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return silent;
  }

  get place(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Waits until all former connections are closed. */
  async waitForClosed(): Promise<void> {
    await Promise.all(this.sockets.filter((socket) => !socket.destroyed).map((socket) => once(socket, 'close')));
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
  }
}
