import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { FakeEmbeddings, type FakeEmbeddingRequest } from './fake-embeddings.js';
import { FakeLlmHandler } from './fake-llm.handler.js';
import type { FakeEnvelope, FakeReply, FakeRequest, FakeScript } from './fake-llm.types.js';
import { toChatRequest } from './fake-responses.mapper.js';
import { brokenRules, type BrokenRule, type ProviderName } from './providers/index.js';

/** Makes the fake enforce the rules of a provider. */
export interface StrictOptions {
  /** The provider, or its choice by the request. */
  readonly strict?: ProviderName | ((request: FakeRequest) => ProviderName);
}

const UNSCRIPTED: FakeReply = {
  status: 500,
  body: { error: { message: 'The fake LLM has no scripted reply left: call llm.reply(…) or llm.always(…).' } },
};

/**
 * A fake LLM that speaks OpenAI's chat completions and responses over real HTTP, and Anthropic's messages, all streamed
 * when asked, and OpenAI's embeddings. A test scripts it:
 *
 *     const llm = await FakeLlm.start();
 *     llm.reply({ calls: [{ name: 'calculator', arguments: { expression: '1+1' } }] }).reply({ text: '2' });
 *     …                       // point the application at llm.url
 *     llm.requests[1].messages
 *     await llm.close();
 *
 * With `FakeLlm.start({ strict: 'mistral' })` it first checks each request by the provider's rules (`providers/`), and
 * answers a broken rule with the provider's status and error body; the script waits for the next request.
 */
export class FakeLlm {
  /** The received bodies, in order. */
  readonly requests: FakeRequest[] = [];
  /** The fake embedding model at `/embeddings`, with its own script. */
  readonly embeddings = new FakeEmbeddings();
  /** Path and headers of each request. */
  readonly envelopes: FakeEnvelope[] = [];
  /** The rules that requests to a strict fake broke. */
  readonly broken: BrokenRule[] = [];
  /** Requests whose caller disconnected before the reply was complete. */
  abortedRequests = 0;
  openConnections = 0;
  private readonly script: FakeScript[] = [];
  private fallback: FakeScript = UNSCRIPTED;
  private readonly waiters = new Set<() => void>();

  private constructor(
    private readonly server: Server,
    private readonly options: StrictOptions,
  ) {
    server.on('connection', (socket) => {
      this.openConnections++;
      socket.on('close', () => this.change(() => this.openConnections--));
    });
    server.on('request', (incoming: IncomingMessage, outgoing: ServerResponse) => {
      // A caller that disconnects while it sends needs no answer.
      this.serve(incoming, outgoing).catch(() => outgoing.destroy());
    });
  }

  static async start(options: StrictOptions = {}): Promise<FakeLlm> {
    const server = createServer({ keepAliveTimeout: 60_000 });
    const llm = new FakeLlm(server, options);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return llm;
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
    this.script.length = this.requests.length = this.envelopes.length = this.broken.length = 0;
    this.fallback = UNSCRIPTED;
    this.abortedRequests = 0;
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
    const handler = new FakeLlmHandler(body, outgoing, FakeLlmHandler.wireAt(path));
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
    const script = this.rejection(body, isResponses ? received : undefined) ?? this.script.shift() ?? this.fallback;
    await handler.send(script);
  }

  /** The provider's answer to a request that breaks a rule. */
  private rejection(request: FakeRequest, responses?: FakeRequest): FakeReply | undefined {
    const { strict } = this.options;
    if (strict === undefined) return undefined;
    const provider = typeof strict === 'function' ? strict(request) : strict;
    const broken = responses ? brokenRules('responses', responses) : brokenRules(provider, request);
    this.broken.push(...broken);
    const [first] = broken;
    return first && { status: first.status, body: first.body };
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
