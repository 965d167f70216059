import { AssertionError } from 'node:assert';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { FakeEmbeddings, type FakeEmbeddingRequest } from './fake-embeddings.js';
import { FakeReplyHandler } from './fake-reply.handler.js';
import type { FakeEnvelope, FakeReply, FakeRequest, FakeScript } from './fake-provider.types.js';
import { toChatRequest } from './response-object.mapper.js';

const UNSCRIPTED: FakeReply = {
  status: 500,
  body: { error: { message: 'The fake provider has no scripted reply left: call reply(…) or always(…).' } },
};

/**
 * A fake provider of models: it speaks OpenAI's chat completions and responses, Anthropic's messages, all streamed when
 * asked, and OpenAI's embeddings, over real HTTP on a loopback port. A test scripts it:
 *
 *     const provider = await FakeProvider.start();
 *     provider.reply({ calls: [{ name: 'calculator', arguments: { expression: '1+1' } }] }, { text: '2' });
 *     …                       // start the application with the variables provider.env
 *     provider.requests[1].messages
 *     await provider.close();
 */
export class FakeProvider {
  /** The received bodies, in order. */
  readonly requests: FakeRequest[] = [];
  /** The fake embedding model at `/embeddings`, with its own script. */
  readonly embeddings = new FakeEmbeddings();
  /** Path and headers of each request. */
  readonly envelopes: FakeEnvelope[] = [];
  /** Requests whose caller disconnected before the reply was complete. */
  abortedRequests = 0;
  openConnections = 0;
  private readonly script: FakeScript[] = [];
  private fallback: FakeScript | null = null;
  private unscripted = 0;
  private readonly waiters = new Set<() => void>();
  private readonly server: Server = createServer({ keepAliveTimeout: 60_000 });

  protected constructor() {
    const { server } = this;
    server.on('connection', (socket) => {
      this.openConnections++;
      socket.on('close', () => this.change(() => this.openConnections--));
    });
    server.on('request', (incoming: IncomingMessage, outgoing: ServerResponse) => {
      // A caller that disconnects while it sends needs no answer.
      this.serve(incoming, outgoing).catch(() => outgoing.destroy());
    });
  }

  static async start(): Promise<FakeProvider> {
    const provider = new FakeProvider();
    await provider.listen();
    return provider;
  }

  protected async listen(): Promise<void> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
  }

  /** The base URL for a client. */
  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1`;
  }

  /**
   * The variables that make it the model of a server without retries: the script determines the outcome of each
   * request.
   */
  get env(): Record<string, string> {
    return this.envOf('openai');
  }

  /** The same for another provider; with `LLM_BASE_URL`, which every provider over HTTP reads. */
  envOf(provider: string): Record<string, string> {
    const single = { LLM_PROVIDER: provider, LLM_MAX_ATTEMPTS: '1', LLM_BREAKER_FAILURES: '0' };
    if (provider === 'openai') return { ...single, OPENAI_API_KEY: 'test', OPENAI_BASE_URL: this.url };
    return { ...single, LLM_API_KEY: 'test', LLM_BASE_URL: this.url };
  }

  /** Adds the replies to the script: one for each further request. */
  reply(...replies: FakeScript[]): this {
    this.script.push(...replies);
    return this;
  }

  /** The reply when the script is empty. */
  always(reply: FakeScript): this {
    this.fallback = reply;
    return this;
  }

  /** Clears the script and the requests, so that one fake serves several tests. */
  reset(): void {
    this.embeddings.reset();
    this.script.length = this.requests.length = this.envelopes.length = 0;
    this.fallback = null;
    this.abortedRequests = this.unscripted = 0;
  }

  /** @throws AssertionError if a request had no reply, or a reply had no request */
  assertDone(): void {
    const left = this.script.length;
    const expected = this.requests.length - this.unscripted + left;
    if (this.unscripted + left === 0) return;
    throw new AssertionError({
      message: `The fake provider received ${this.requests.length} requests; its script has replies for ${expected}.`,
    });
  }

  /** The last received request. Throws if no request has arrived. */
  get lastRequest(): FakeRequest {
    const last = this.requests.at(-1);
    if (!last) throw new Error('The fake LLM has had no request.');
    return last;
  }

  /** Waits until `n` requests have arrived. @returns the n-th */
  async waitForRequest(n = 1): Promise<FakeRequest> {
    await this.waitUntil(() => this.requests.length >= n);
    return this.requests[n - 1] as FakeRequest;
  }

  /** Waits until `n` callers have disconnected before their reply was complete. */
  async waitForAbort(n = 1): Promise<void> {
    await this.waitUntil(() => this.abortedRequests >= n);
  }

  async waitForConnections(n: number): Promise<void> {
    await this.waitUntil(() => this.openConnections === n);
  }

  async close(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await this.waitForConnections(0);
  }

  private async serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const received = await readBody(incoming);
    const path = (incoming.url ?? '').split('?')[0] ?? '';
    const isResponses = path.endsWith('/responses');
    const body = isResponses ? toChatRequest(received) : received;
    const handler = new FakeReplyHandler(body, outgoing, FakeReplyHandler.wireAt(path));
    outgoing.on('close', () => {
      if (!outgoing.writableFinished && !handler.brokeOff) this.change(() => this.abortedRequests++);
    });
    const envelope = { path: incoming.url ?? '', headers: incoming.headers, body: received };
    if (path.endsWith('/embeddings')) {
      const request = body as unknown as FakeEmbeddingRequest;
      await handler.send(this.embeddings.answer(request, envelope));
      return;
    }
    this.change(() => {
      this.requests.push(body);
      this.envelopes.push(envelope);
    });
    await handler.send(this.rejection(body, isResponses ? received : undefined) ?? this.next());
  }

  /**
   * The answer to a request that the provider refuses, for a fake with rules; the script waits for the next request.
   * @param _responses the body as received, if it is of the Responses API
   */
  protected rejection(_request: FakeRequest, _responses?: FakeRequest): FakeReply | undefined {
    return undefined;
  }

  private next(): FakeScript {
    const script = this.script.shift() ?? this.fallback;
    if (script === null) this.unscripted++;
    return script ?? UNSCRIPTED;
  }

  private change(happen: () => void): void {
    happen();
    for (const check of this.waiters) check();
  }

  private waitUntil(isTrue: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = () => {
        if (!isTrue()) return;
        this.waiters.delete(check);
        resolve();
      };
      this.waiters.add(check);
      check();
    });
  }
}

async function readBody(incoming: IncomingMessage): Promise<FakeRequest> {
  let text = '';
  for await (const chunk of incoming.setEncoding('utf8')) text += chunk;
  return JSON.parse(text) as FakeRequest;
}
