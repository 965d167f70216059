import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly json: { type: string; timestamp: string; data: Record<string, unknown> };
}

/** An HTTP server that records the requests of webhooks. */
export class WebhookReceiver {
  readonly received: Received[] = [];
  status = 200;
  headers: Record<string, string> = {};
  /** Receives requests without a reply. */
  isSilent = false;

  private constructor(private readonly server: Server) {}

  static async start(): Promise<WebhookReceiver> {
    const server = createServer();
    const receiver = new WebhookReceiver(server);
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const body = Buffer.concat(chunks).toString();
        receiver.received.push({
          url: request.url ?? '',
          headers: request.headers,
          body,
          json: JSON.parse(body) as Received['json'],
        });
        if (!receiver.isSilent) response.writeHead(receiver.status, receiver.headers).end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/hook`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
