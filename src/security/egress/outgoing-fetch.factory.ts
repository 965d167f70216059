import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import type { Transformer } from 'node:stream/web';
import type { Dispatcher } from 'undici';
import { setTimeout as pause } from 'node:timers/promises';
import type { OutgoingTarget } from '../../config/index.js';
import { AppError, exportsOf } from '../../errors/index.js';
import { createGuardedAgent } from './guarded-agent.factory.js';
import { OutgoingPlacePolicy, type OutgoingRules, toPlace } from './outgoing-place.policy.js';
import { failed, notTaken, tookTooLong } from './outgoing.error.js';
import { MAX_VALUES, ValueCounter } from './value-count.parser.js';

/** Minimum pause, in ms: bundles deferred work instead of setting a timer for every message. */
const MIN_PAUSE_MS = 25;

/**
 * Rate limit (token bucket) on the input from another program, so that endless input leaves CPU time for other work.
 * A quiet second may be followed by a burst of the same size.
 */
export class IntakePace {
  private left: number;
  private at = performance.now();

  /** @param perSecond in the unit of `take` */
  constructor(private readonly perSecond: number) {
    this.left = perSecond;
  }

  /** Counts input. @returns pause before the next read, in ms; usually 0 */
  take(amount: number): number {
    const now = performance.now();
    this.left = Math.min(this.perSecond, this.left + ((now - this.at) / 1000) * this.perSecond) - amount;
    this.at = now;
    return this.left >= 0 ? 0 : Math.max(MIN_PAUSE_MS, (-this.left / this.perSecond) * 1000);
  }
}

/** Messages for error codes of the system and of undici, whose own messages contain addresses. */
const REASONS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'its name is unknown',
  EAI_AGAIN: 'its name could not be looked up',
  ECONNREFUSED: 'it does not accept connections',
  ECONNRESET: 'it closed the connection',
  EPIPE: 'it closed the connection',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to the network',
  ETIMEDOUT: 'the connection took too long',
  UND_ERR_CONNECT_TIMEOUT: 'the connection took too long',
  UND_ERR_SOCKET: 'it closed the connection',
};
/** Codes of certificates with an unknown authority. */
const UNKNOWN_AUTHORITY = /^(DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/;
const TRUSTING = 'an operator can have Node.js trust its authority with NODE_EXTRA_CA_CERTS';
/** undici's message for a tunnel that a proxy does not open. */
const REFUSED_BY_PROXY = /^Proxy response \((\d{3})\)/;
const SILENCE = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);
const HEADERS_TOO_LONG = new Set(['UND_ERR_HEADERS_OVERFLOW', 'HPE_HEADER_OVERFLOW']);

/** Maps any failure of a call to an error that names the host, but no other part of the URL. */
export function toOutgoingError(error: unknown, { host }: URL): Error {
  if (error instanceof AppError) return error;
  const code = codeOf(error);
  if (SILENCE.has(code)) return tookTooLong(`${host} sent nothing within the read time-out.`);
  if (HEADERS_TOO_LONG.has(code)) return notTaken(`The headers of ${host}'s reply are too long.`, error);
  if (code.startsWith('HPE_')) return notTaken(`${host} does not answer in HTTP.`, error);
  if (/^(ERR_SSL|EPROTO)/.test(code)) return notTaken(`TLS handshake with ${host} failed (${code}).`, error);
  if (/^(ERR_TLS|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/.test(code)) {
    const what = `${host} cannot be trusted: its certificate is refused (${code})`;
    return notTaken(`${what}${UNKNOWN_AUTHORITY.test(code) ? `; ${TRUSTING}` : ''}.`, error);
  }
  return failed(`${host} cannot be reached: ${reasonOf(error as Error, code)}.`, error);
}

function reasonOf(error: Error, code: string): string {
  const [, status] = REFUSED_BY_PROXY.exec(innermost(error)) ?? [];
  if (status !== undefined) return `the proxy of HTTP_PROXY or HTTPS_PROXY answered with ${status}`;
  return REASONS[code] ?? 'the connection failed';
}

function innermost({ message, cause }: Error): string {
  return cause instanceof Error ? innermost(cause) : message;
}

function codeOf(error: unknown): string {
  const { code, cause, errors } = error as { code?: unknown; cause?: unknown; errors?: unknown[] };
  if (typeof code === 'string' && code !== '') return code;
  const inner = cause ?? errors?.[0];
  return typeof inner === 'object' && inner !== null ? codeOf(inner) : '';
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };
/** Statuses of replies that have no body (Fetch Standard, null body status). */
const BODILESS = new Set([101, 103, 204, 205, 304]);
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
/** Maximum server-sent events per second; `BYTES_AS_EVENT` bytes count as one. */
const EVENTS_PER_SECOND = 500;
const BYTES_AS_EVENT = 32_768;
/** Size in which chunks are passed on, since one chunk may contain thousands of events. */
const PART_BYTES = 4096;

type Passing = Transformer<Uint8Array, Uint8Array>;

export interface OutgoingFetchOptions {
  /** URL that an operator configured: it may be called whatever its address is. */
  readonly declared?: URL;
  /** Maximum message size, in bytes: of a whole body, or of one server-sent event. */
  readonly maxMessageBytes: number;
  /** Called with the size of each received chunk, in bytes. */
  readonly onReceived?: (bytes: number) => void;
  /** Name resolver; the operating system by default. */
  readonly lookup?: LookupFunction;
}

/**
 * `fetch` over guarded connections, for libraries that implement a protocol themselves. Its connections do not keep the process
 * alive, since some of them are streams without end: its callers hold the process during a call.
 */
export class OutgoingFetch {
  private readonly policy: OutgoingPlacePolicy;
  private agent: Promise<Dispatcher> | undefined;
  private readonly pace = new IntakePace(EVENTS_PER_SECOND);
  private isClosed = false;

  constructor(
    rules: OutgoingRules,
    private readonly options: OutgoingFetchOptions,
  ) {
    const { declared } = options;
    const allow = declared ? [...rules.allow, targetOf(declared)] : rules.allow;
    this.policy = new OutgoingPlacePolicy({ ...rules, allow });
  }

  /**
   * Like the standard `fetch`, but refuses forbidden addresses and fails the body at a message that is too long.
   * @throws AppError `OUTGOING_REFUSED`, `OUTGOING_FAILED`, `SHUTTING_DOWN`; the signal's reason if it is aborted
   */
  readonly fetch = async (input: string | URL, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(input);
    this.policy.checkUrl(url);
    await this.policy.checkLookup(url, this.options.lookup ?? lookup, init.signal);
    const dispatcher = await this.open();
    const { fetch } = exportsOf(await import('undici'));
    try {
      const given = { ...init, dispatcher } as unknown as Parameters<typeof fetch>[1];
      return bounded(await fetch(url, given), url, this.options, this.pace);
    } catch (error) {
      init.signal?.throwIfAborted();
      throw toOutgoingError(error, url);
    }
  };

  /** Also aborts open calls. */
  async close(): Promise<void> {
    this.isClosed = true;
    await (await this.agent)?.destroy();
  }

  private open(): Promise<Dispatcher> {
    if (this.isClosed) throw new AppError('SHUTTING_DOWN', 'The connection is closed; no further call is possible.');
    this.agent ??= createGuardedAgent(this.policy, this.options.lookup ?? lookup, { holdsProcess: false });
    return this.agent;
  }
}

function targetOf(url: URL): OutgoingTarget {
  const port = url.port === '' ? DEFAULT_PORTS[url.protocol]! : Number(url.port);
  const { host } = toPlace(url.hostname, port);
  if (/^[\d.]+$/.test(host)) return { kind: 'range', address: host, prefix: 32, port };
  if (host.includes(':')) return { kind: 'range', address: host, prefix: 128, port };
  return { kind: 'name', name: host, port };
}

function bounded(response: Response, url: URL, options: OutgoingFetchOptions, pace: IntakePace): Response {
  const { body, status, statusText, headers } = response;
  if (!body || BODILESS.has(status)) return response;
  const isEvents = (headers.get('content-type') ?? '').startsWith('text/event-stream');
  const limit = isEvents ? limitOfEvents(url, options, pace) : limitOfBody(url, options);
  const limited = new Response(body.pipeThrough(new TransformStream(limit)), { status, statusText, headers });
  return Object.defineProperty(limited, 'url', { value: response.url });
}

function limitOfBody(url: URL, { maxMessageBytes, onReceived }: OutgoingFetchOptions): Passing {
  let length = 0;
  const counter = new ValueCounter();
  return {
    transform(chunk, controller) {
      onReceived?.(chunk.length);
      length += chunk.length;
      counter.count(chunk);
      check(url, length, counter.values, maxMessageBytes);
      controller.enqueue(chunk);
    },
  };
}

/** Limits the size and the rate of events; backpressure makes the server wait. */
function limitOfEvents(url: URL, { maxMessageBytes, onReceived }: OutgoingFetchOptions, pace: IntakePace): Passing {
  const events = new EventCounter();
  return {
    async transform(chunk, controller) {
      onReceived?.(chunk.length);
      for (let at = 0; at < chunk.length; at += PART_BYTES) {
        const part = chunk.subarray(at, at + PART_BYTES);
        const ended = events.count(part);
        check(url, events.length, events.values, maxMessageBytes);
        controller.enqueue(part);
        const rest = pace.take(ended + part.length / BYTES_AS_EVENT);
        if (rest > 0) await pause(rest, undefined, { ref: false });
      }
    },
  };
}

function check({ host }: URL, length: number, values: number, maxBytes: number): void {
  if (length > maxBytes) throw notTaken(`A message of ${host} is longer than the limit of ${maxBytes} bytes.`);
  if (values > MAX_VALUES) throw notTaken(`A message of ${host} has more than the limit of ${MAX_VALUES} values.`);
}

/** An event ends with an empty line (HTML Standard, server-sent events). */
class EventCounter {
  /** Bytes of the current, unfinished event. */
  length = 0;
  private counter = new ValueCounter();
  private isLineEmpty = true;

  /** JSON values of the current event. */
  get values(): number {
    return this.counter.values;
  }

  /** @returns number of events that end in the chunk */
  count(chunk: Uint8Array): number {
    let ended = 0;
    this.counter.count(chunk);
    for (const byte of chunk) {
      this.length++;
      if (byte !== LINE_FEED) {
        if (byte !== CARRIAGE_RETURN) this.isLineEmpty = false;
        continue;
      }
      if (this.isLineEmpty) {
        this.length = 0;
        this.counter = new ValueCounter();
        ended++;
      }
      this.isLineEmpty = true;
    }
    return ended;
  }
}
