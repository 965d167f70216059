import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import type { Dispatcher } from 'undici';
import { AppError } from '../../errors/index.js';
import { TimeLimit } from '../../kernel/index.js';
import { ACCEPTED_ENCODINGS, readBounded } from './bounded-body.parser.js';
import { CallGate, type GateOptions, type GatePlace } from './call-gate.policy.js';
import { createGuardedAgent } from './guarded-agent.factory.js';
import { toOutgoingError } from './outgoing-fetch.factory.js';
import { OutgoingPlacePolicy, type OutgoingRules } from './outgoing-place.policy.js';
import { refused, tookTooLong } from './outgoing.error.js';
import type { ConnectionOptions, OutgoingCookies, OutgoingReply, OutgoingRequest } from './outgoing.types.js';
import { type Hop, redirectedHop, tooManyRedirects } from './redirect.policy.js';

interface CallTimes {
  readonly timeoutMs: number;
  readonly firstByteTimeoutMs?: number;
}

/** Time limits of one call. Its signal aborts on a time-out and on the caller's abort. */
interface CallClock {
  readonly signal: AbortSignal;
  /** The time-out error, if a limit has passed. */
  readonly failure: Error | undefined;
  /** Starts the limit until the first byte of the reply. */
  awaitFirstByte(host: string): void;
  firstByteCame(): void;
  stop(): void;
}

/** Starts the clock of a call. Times are ms. */
function callClock({ timeoutMs, firstByteTimeoutMs }: CallTimes, signal?: AbortSignal): CallClock {
  const clock = new AbortController();
  let host = '';
  let silence: TimeLimit | undefined;
  const end = (ms: number, what: string) =>
    new TimeLimit(ms, () => clock.abort(tookTooLong(`${host || 'The call'} ${what} within ${ms} ms.`)));
  const whole = end(timeoutMs, 'did not finish');
  return {
    signal: signal ? AbortSignal.any([signal, clock.signal]) : clock.signal,
    get failure() {
      return clock.signal.aborted ? (clock.signal.reason as Error) : undefined;
    },
    awaitFirstByte(name) {
      host = name;
      if (firstByteTimeoutMs !== undefined) silence = end(firstByteTimeoutMs, 'did not start to answer');
    },
    firstByteCame: () => silence?.clear(),
    stop() {
      silence?.clear();
      whole.clear();
    },
  };
}

export interface OutgoingOptions extends ConnectionOptions {
  /** Concurrency limit; unlimited by default. */
  readonly gate?: GateOptions;
  /** Name resolver; the operating system by default. */
  readonly lookup?: LookupFunction;
}

/** A connection pool and its policy. */
interface Route {
  readonly policy: OutgoingPlacePolicy;
  readonly options: ConnectionOptions;
  agent?: Promise<Dispatcher>;
}

const TIMEOUT_MS = 30_000;
const MAX_BYTES = 10 * 1024 * 1024;
const MAX_REDIRECTS = 5;

/**
 * The HTTP client for all calls of tools: a pool of keep-alive connections to public addresses and to those that
 * `OUTGOING_ALLOW` permits. Loads `undici` at the first call.
 */
export class OutgoingClient {
  private readonly own: Route;
  /** For calls beyond the pool's size; its connections close after their call. */
  private readonly overflow: Route;
  /** For redirects from another origin, which must not reuse connections of configured calls. */
  private readonly foreign: Route;
  private readonly gate: CallGate | undefined;
  private isClosed = false;

  constructor(
    private readonly rules: OutgoingRules,
    private readonly options: OutgoingOptions = {},
  ) {
    const policy = new OutgoingPlacePolicy(rules);
    const { gate } = options;
    this.own = { policy, options };
    this.overflow = { policy, options: { ...options, isPersistent: false, ...(gate && { most: gate.overflow }) } };
    const most = gate && gate.pool + gate.overflow;
    this.foreign = { policy: policy.ofRedirects(), options: { ...options, ...(most !== undefined && { most }) } };
    this.gate = gate && new CallGate(gate);
  }

  /** A client with the same rules and its own connections; the caller closes it. */
  apart(options: Omit<OutgoingOptions, 'lookup'>): OutgoingClient {
    const { lookup: known } = this.options;
    return new OutgoingClient(this.rules, { ...options, ...(known && { lookup: known }) });
  }

  /**
   * Checks the URL of later calls, without a name resolution: a name may still resolve to an address that is refused.
   * @throws AppError `OUTGOING_REFUSED`
   */
  check(url: URL): void {
    this.own.policy.checkUrl(url);
  }

  /**
   * Sends a request, follows redirects and returns the whole reply, whatever its status. Checks each destination.
   * @throws AppError `OUTGOING_REFUSED`; `OUTGOING_FAILED` or `OUTGOING_TIMEOUT`, retryable if the same call may
   * succeed later; `SHUTTING_DOWN`; the signal's reason if it is aborted
   */
  async send(request: OutgoingRequest): Promise<OutgoingReply> {
    const { limits = {}, signal } = request;
    const clock = callClock({ timeoutMs: TIMEOUT_MS, ...limits }, signal);
    const hops = [firstHop(request)];
    const follow = (place: GatePlace) => this.follow(hops, request, clock, place === 'pool' ? this.own : this.overflow);
    try {
      return await (this.gate ? this.gate.pass(follow, clock.signal) : follow('pool'));
    } catch (error) {
      signal?.throwIfAborted();
      throw toOutgoingError(clock.failure ?? error, hops.at(-1)!.url);
    } finally {
      clock.stop();
    }
  }

  async close(): Promise<void> {
    this.isClosed = true;
    for (const { agent } of [this.own, this.overflow, this.foreign]) await (await agent)?.destroy();
  }

  /** @param hops contains the first request; each redirect is appended */
  private async follow(
    hops: Hop[],
    { limits = {}, cookies }: OutgoingRequest,
    clock: CallClock,
    own: Route,
  ): Promise<OutgoingReply> {
    for (;;) {
      const hop = hops.at(-1)!;
      const route = hop.isForeign ? this.foreign : own;
      const { next, reply } = await this.exchange(hop, route, clock, limits.maxBytes ?? MAX_BYTES, cookies);
      if (!next) return reply;
      const most = limits.maxRedirects ?? MAX_REDIRECTS;
      if (hops.length > most) throw tooManyRedirects(hop.url, most);
      hops.push(next);
    }
  }

  private async exchange(
    hop: Hop,
    route: Route,
    clock: CallClock,
    maxBytes: number,
    cookies: OutgoingCookies | undefined,
  ): Promise<{ next?: Hop; reply: OutgoingReply }> {
    route.policy.checkUrl(hop.url);
    await route.policy.checkLookup(hop.url, this.options.lookup ?? lookup, clock.signal);
    const agent = await this.open(route);
    clock.awaitFirstByte(hop.url.host);
    const {
      statusCode: status,
      headers: given,
      body,
    } = await agent.request(toDispatch(withCookies(hop, cookies), clock.signal));
    clock.firstByteCame();
    cookies?.take(hop.url, [given['set-cookie'] ?? []].flat());
    // The reader reports stream errors; without a listener they would be uncaught.
    body.on('error', () => undefined);
    const headers = joined(given);
    try {
      const next = redirectedHop(hop, status, headers['location']);
      if (next) return { next, reply: { status, headers, body: await drained(body) } };
      const bytes =
        hop.method === 'HEAD' ? await drained(body) : await readBounded(body, headers, maxBytes, hop.url.host);
      return { reply: { status, headers, body: bytes } };
    } catch (error) {
      // The rest of the body is not read, so the connection cannot be reused.
      body.destroy();
      throw error;
    }
  }

  private open(route: Route): Promise<Dispatcher> {
    if (this.isClosed) throw new AppError('SHUTTING_DOWN', 'The server is shutting down; no further call is possible.');
    route.agent ??= createGuardedAgent(route.policy, this.options.lookup ?? lookup, route.options);
    return route.agent;
  }
}

function firstHop({ url: given, method, headers = {}, body, secrets = [] }: OutgoingRequest): Hop {
  const url = typeof given === 'string' ? URL.parse(given) : given;
  if (!url) throw refused('The address of the call is not a valid URL.');
  return {
    url,
    method,
    headers: { 'accept-encoding': ACCEPTED_ENCODINGS, ...headers },
    secrets,
    isForeign: false,
    ...(body !== undefined && { body }),
  };
}

/** Adds the cookies of each destination; a redirect does not carry them along. */
function withCookies(hop: Hop, cookies: OutgoingCookies | undefined): Hop {
  const stored = cookies?.headerFor(hop.url);
  if (stored === undefined) return hop;
  const { cookie: given } = hop.headers;
  return { ...hop, headers: { ...hop.headers, cookie: given === undefined ? stored : `${given}; ${stored}` } };
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

/** Discards the body of a redirect, usually short; a longer one closes its connection. */
async function drained(body: Dispatcher.ResponseData['body']): Promise<Buffer> {
  await body.dump({ limit: 65_536 });
  return Buffer.alloc(0);
}

function joined(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  const entries = Object.entries(headers).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.map(([name, value]) => [name, [value].flat().join(', ')]));
}
