import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import type { Agent, Dispatcher } from 'undici';
import { AppError } from '../../common/index.js';
import { ACCEPTED_ENCODINGS, readBounded } from './bounded-body.parser.js';
import { callClock, type CallClock } from './call-clock.policy.js';
import { createGuardedAgent } from './guarded-agent.factory.js';
import { OutgoingPlacePolicy, type OutgoingRules } from './outgoing-place.policy.js';
import { toOutgoingError } from './outgoing-error.mapper.js';
import { refused } from './outgoing.error.js';
import type { OutgoingReply, OutgoingRequest } from './outgoing.types.js';
import { type Hop, redirectedHop, tooManyRedirects } from './redirect.policy.js';

export interface OutgoingOptions {
  /** The longest time of a TCP and TLS handshake, in ms; by default 10,000. */
  readonly connectTimeoutMs?: number;
  /** Who knows names, in the place of the operating system. */
  readonly lookup?: LookupFunction;
}

/** Connections, and what allows them. */
interface Way {
  readonly policy: OutgoingPlacePolicy;
  agent?: Promise<Agent>;
}

const CONNECT_TIMEOUT_MS = 10_000;
const TIMEOUT_MS = 30_000;
const MAX_BYTES = 10 * 1024 * 1024;
const MAX_REDIRECTS = 5;

/**
 * The one way out of the application for what tools call: a pool of keep-alive connections that reaches public places,
 * and of others those that `OUTGOING_ALLOW` names. The environment's proxies play no part. `undici` is loaded at the
 * first call.
 */
export class OutgoingClient {
  private readonly own: Way;
  /** To where another origin redirects: a connection that a declared call may have is not one for everybody. */
  private readonly foreign: Way;
  private isClosed = false;

  constructor(
    rules: OutgoingRules,
    private readonly options: OutgoingOptions = {},
  ) {
    const policy = new OutgoingPlacePolicy(rules);
    this.own = { policy };
    this.foreign = { policy: policy.ofRedirects() };
  }

  /**
   * Calls, follows redirects, and gives the whole reply, whatever its status. Each place on the way is checked.
   * @throws AppError `OUTGOING_REFUSED`; `OUTGOING_FAILED` or `OUTGOING_TIMEOUT`, retryable where the same call may do
   * better; `SHUTTING_DOWN`; the signal's reason when it is aborted
   */
  async send(request: OutgoingRequest): Promise<OutgoingReply> {
    const { limits = {}, signal } = request;
    const clock = callClock({ timeoutMs: TIMEOUT_MS, ...limits }, signal);
    let hop = firstHop(request);
    try {
      for (let count = 0; ; count++) {
        const { next, reply } = await this.exchange(hop, clock, limits.maxBytes ?? MAX_BYTES);
        if (!next) return reply;
        const most = limits.maxRedirects ?? MAX_REDIRECTS;
        if (count >= most) throw tooManyRedirects(hop.url, most);
        hop = next;
      }
    } catch (error) {
      signal?.throwIfAborted();
      throw toOutgoingError(clock.failure ?? error, hop.url);
    } finally {
      clock.stop();
    }
  }

  async close(): Promise<void> {
    this.isClosed = true;
    for (const { agent } of [this.own, this.foreign]) await (await agent)?.destroy();
  }

  private async exchange(hop: Hop, clock: CallClock, maxBytes: number): Promise<{ next?: Hop; reply: OutgoingReply }> {
    const way = hop.isForeign ? this.foreign : this.own;
    way.policy.checkUrl(hop.url);
    const agent = await this.open(way);
    clock.awaitFirstByte(hop.url.host);
    const { statusCode: status, headers: given, body } = await agent.request(toDispatch(hop, clock.signal));
    clock.firstByteCame();
    // It is told of by what reads it; nobody else may be surprised by it.
    body.on('error', () => undefined);
    const headers = joined(given);
    try {
      const next = redirectedHop(hop, status, headers['location']);
      if (next) return { next, reply: { status, headers, body: await drained(body) } };
      const bytes =
        hop.method === 'HEAD' ? await drained(body) : await readBounded(body, headers, maxBytes, hop.url.host);
      return { reply: { status, headers, body: bytes } };
    } catch (error) {
      // Nobody reads on: the connection is of no more use.
      body.destroy();
      throw error;
    }
  }

  private open(way: Way): Promise<Agent> {
    if (this.isClosed) throw new AppError('SHUTTING_DOWN', 'The server is shutting down; nothing further is called.');
    const { connectTimeoutMs = CONNECT_TIMEOUT_MS, lookup: known = lookup } = this.options;
    way.agent ??= createGuardedAgent(way.policy, { connectTimeoutMs, lookup: known });
    return way.agent;
  }
}

function firstHop({ url: given, method, headers = {}, body, secrets = [] }: OutgoingRequest): Hop {
  const url = typeof given === 'string' ? URL.parse(given) : given;
  if (!url) throw refused('The address that is to be called is no URL.');
  return {
    url,
    method,
    headers: { 'accept-encoding': ACCEPTED_ENCODINGS, ...headers },
    secrets,
    isForeign: false,
    ...(body !== undefined && { body }),
  };
}

function toDispatch({ url, method, headers, body }: Hop, signal: AbortSignal): Dispatcher.RequestOptions {
  return {
    origin: url.origin,
    path: url.pathname + url.search,
    method,
    headers,
    signal,
    ...(body !== undefined && { body }),
  };
}

/** What a redirect says beside where to is short as a rule; the connection of one that goes on and on is closed. */
async function drained(body: Dispatcher.ResponseData['body']): Promise<Buffer> {
  await body.dump({ limit: 65_536 });
  return Buffer.alloc(0);
}

function joined(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  const entries = Object.entries(headers).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.map(([name, value]) => [name, [value].flat().join(', ')]));
}
