import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { loadConfig } from '../src/config/index.js';
import { KeyPoolRegistry, ModelStackFactory, type ModelRegistry } from '../src/llm/index.js';
import type { ChatModel } from '../src/llm/chat/index.js';
import { createModelRegistry } from '../src/llm/model-registry.factory.js';
import { FakeLlm } from './support/fake-llm.js';

const CONNECT_MS = 200;
/** Time limit of a whole call, in ms; the tests expect the connect timeout well before it. */
const REPLY_MS = 20_000;
const REQUEST = { messages: [{ role: 'user', content: 'hi' }] } as const;
const PROVIDERS = ['openai', 'anthropic'] as const;

/** A server that accepts TCP connections and never sends a byte, so no TLS handshake completes. */
class MuteServer {
  readonly sockets = new Set<Socket>();

  private constructor(private readonly server: Server) {
    server.on('connection', (socket) => {
      this.sockets.add(socket.resume().on('error', () => undefined));
      socket.once('close', () => this.sockets.delete(socket));
    });
  }

  static async start(): Promise<MuteServer> {
    const server = createServer();
    const mute = new MuteServer(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return mute;
  }

  get url(): string {
    return `https://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1`;
  }

  async connected(): Promise<void> {
    if (this.sockets.size === 0) await once(this.server, 'connection');
  }

  /** Resolves when all connections are closed. */
  async isLeft(): Promise<void> {
    for (const socket of this.sockets) if (!socket.closed) await once(socket, 'close');
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

describe.each(PROVIDERS)('a connection to %s whose TLS handshake never ends', (provider) => {
  let server: MuteServer;
  let registry: ModelRegistry;
  let llm: FakeLlm;
  beforeEach(async () => {
    server = await MuteServer.start();
    llm = await FakeLlm.start();
    registry = createModelRegistry({ connectTimeoutMs: CONNECT_MS });
  });
  afterEach(async () => {
    await registry.close();
    await server.close();
    await llm.close();
  });

  const modelAt = (baseUrl: string): ChatModel => {
    const { config } = loadConfig({ env: { ...llm.envOf(provider), LLM_MAX_ATTEMPTS: '1' } });
    const stack = new ModelStackFactory(registry, new KeyPoolRegistry(config.llm), config.llm, null, null);
    return stack.create({ provider, model: 'some-model', apiKey: 'k', timeoutMs: REPLY_MS, baseUrl });
  };

  it('fails within its timeout, names the variable and leaves no socket', async () => {
    const started = performance.now();
    const failure = await modelAt(server.url)
      .generate(REQUEST)
      .catch((thrown: unknown) => thrown);
    expect(failure).toMatchObject({ code: 'MODEL_UNREACHABLE', isRetryable: true, details: { provider } });
    expect(String(failure)).toContain(`${new URL(server.url).origin} (no connection within LLM_CONNECT_TIMEOUT_MS)`);
    expect(performance.now() - started).toBeLessThan(REPLY_MS / 4);
    await server.isLeft();
  });

  it('does not delay a cancelled call, and closes within its timeout', async () => {
    const controller = new AbortController();
    const asked = modelAt(server.url).generate(REQUEST, { signal: controller.signal });
    asked.catch(() => undefined);
    await server.connected();
    controller.abort(new Error('away'));
    await expect(asked).rejects.toThrow('away');
    await server.isLeft();
  });

  it('does not block calls to another address', async () => {
    const failing = modelAt(server.url).generate(REQUEST);
    failing.catch(() => undefined);
    await server.connected();
    llm.always({ text: 'fine' });
    const there = llm.envOf(provider);
    const url = Object.entries(there).find(([name]) => name.endsWith('BASE_URL'))![1];
    expect((await modelAt(url).generate(REQUEST)).message.content).toBe('fine');
    await expect(failing).rejects.toMatchObject({ code: 'MODEL_UNREACHABLE' });
  });
});
