import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import type { Agent, Dispatcher } from 'undici';
import { AppError } from '../../common/index.js';
import { ACCEPTED_ENCODINGS, readBounded } from './bounded-body.parser.js';
import { callClock, type CallClock } from './call-clock.policy.js';
import { CallGate, type GateOptions } from './call-gate.policy.js';
import { createGuardedAgent } from './guarded-agent.factory.js';
import { OutgoingPlacePolicy, type OutgoingRules } from './outgoing-place.policy.js';
import { toOutgoingError } from './outgoing-error.mapper.js';
import { refused } from './outgoing.error.js';
import type { ConnectionOptions, OutgoingCookies, OutgoingReply, OutgoingRequest } from './outgoing.types.js';
import { type Hop, redirectedHop, tooManyRedirects } from './redirect.policy.js';

export interface OutgoingOptions extends ConnectionOptions {
  /** Without it any number of calls is made at once. */
  readonly gate?: GateOptions;
  /** Who knows names, in the place of the operating system. */
  readonly lookup?: LookupFunction;
}

/** Connections, and what allows them. */
interface Way {
  readonly policy: OutgoingPlacePolicy;
  agent?: Promise<Agent>;
}

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
  private readonly gate: CallGate | undefined;
  private isClosed = false;

  constructor(
    private readonly rules: OutgoingRules,
    private readonly options: OutgoingOptions = {},
  ) {
    const policy = new OutgoingPlacePolicy(rules);
    this.own = { policy };
    this.foreign = { policy: policy.ofRedirects() };
    this.gate = options.gate && new CallGate(options.gate);
  }

  /** Another one that may call the same places, with connections of its own; whoever asks for it closes it. */
  apart(options: Omit<OutgoingOptions, 'lookup'>): OutgoingClient {
    const { lookup: known } = this.options;
    return new OutgoingClient(this.rules, { ...options, ...(known && { lookup: known }) });
  }

  /**
   * Calls, follows redirects, and gives the whole reply, whatever its status. Each place on the way is checked.
   * @throws AppError `OUTGOING_REFUSED`; `OUTGOING_FAILED` or `OUTGOING_TIMEOUT`, retryable where the same call may do
   * better; `SHUTTING_DOWN`; the signal's reason when it is aborted
   */
  async send(request: OutgoingRequest): Promise<OutgoingReply> {
    const { limits = {}, signal } = request;
    const clock = callClock({ timeoutMs: TIMEOUT_MS, ...limits }, signal);
    const hops = [firstHop(request)];
    const follow = () => this.follow(hops, request, clock);
    try {
      return await (this.gate ? this.gate.pass(follow, clock.signal) : follow());
    } catch (error) {
      signal?.throwIfAborted();
      throw toOutgoingError(clock.failure ?? error, hops.at(-1)!.url);
    } finally {
      clock.stop();
    }
  }

  async close(): Promise<void> {
    this.isClosed = true;
    for (const { agent } of [this.own, this.foreign]) await (await agent)?.destroy();
  }

  /** @param hops with the first one; each further one comes to them */
  private async follow(
    hops: Hop[],
    { limits = {}, cookies }: OutgoingRequest,
    clock: CallClock,
  ): Promise<OutgoingReply> {
    for (;;) {
      const hop = hops.at(-1)!;
      const { next, reply } = await this.exchange(hop, clock, limits.maxBytes ?? MAX_BYTES, cookies);
      if (!next) return reply;
      const most = limits.maxRedirects ?? MAX_REDIRECTS;
      if (hops.length > most) throw tooManyRedirects(hop.url, most);
      hops.push(next);
    }
  }

  private async exchange(
    hop: Hop,
    clock: CallClock,
    maxBytes: number,
    cookies: OutgoingCookies | undefined,
  ): Promise<{ next?: Hop; reply: OutgoingReply }> {
    const way = hop.isForeign ? this.foreign : this.own;
    way.policy.checkUrl(hop.url);
    const agent = await this.open(way);
    clock.awaitFirstByte(hop.url.host);
    const {
      statusCode: status,
      headers: given,
      body,
    } = await agent.request(toDispatch(withCookies(hop, cookies), clock.signal));
    clock.firstByteCame();
    cookies?.take(hop.url, [given['set-cookie'] ?? []].flat());
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
    way.agent ??= createGuardedAgent(way.policy, this.options.lookup ?? lookup, this.options);
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

/** To each place its own: they are no part of what a redirect may take along. */
function withCookies(hop: Hop, cookies: OutgoingCookies | undefined): Hop {
  const cookie = cookies?.headerFor(hop.url);
  return cookie === undefined ? hop : { ...hop, headers: { ...hop.headers, cookie } };
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
