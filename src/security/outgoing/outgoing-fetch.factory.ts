import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import type { Transformer } from 'node:stream/web';
import type { Agent } from 'undici';
import { setTimeout as pause } from 'node:timers/promises';
import { AppError } from '../../common/index.js';
import type { OutgoingTarget } from '../../config/index.js';
import { createGuardedAgent } from './guarded-agent.factory.js';
import { IntakePace } from './intake-pace.policy.js';
import { toOutgoingError } from './outgoing-error.mapper.js';
import { notTaken } from './outgoing.error.js';
import { OutgoingPlacePolicy, type OutgoingRules, toPlace } from './outgoing-place.policy.js';
import { MAX_VALUES, ValueCounter } from './value-count.parser.js';

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };
/** Statuses of replies that have no body (Fetch Standard, null body status). */
const BODILESS = new Set([101, 103, 204, 205, 304]);
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
/** How many events are read in a second, and how many bytes count as one. */
const EVENTS_PER_SECOND = 500;
const BYTES_AS_EVENT = 32_768;
/** Events are passed on in parts of so many bytes, since what comes at once may hold thousands of them. */
const PART_BYTES = 4096;

type Passing = Transformer<Uint8Array, Uint8Array>;

export interface OutgoingFetchOptions {
  /** Where an operator said that is to be called: it may be called whatever place it is. */
  readonly declared?: URL;
  /** The longest message, in bytes: a whole body, or one event of a stream of events. */
  readonly maxMessageBytes: number;
  /** Hears of all that comes, in bytes. */
  readonly onReceived?: (bytes: number) => void;
  /** Who knows names, in the place of the operating system. */
  readonly lookup?: LookupFunction;
}

/** The standard's `fetch` over guarded connections, for libraries that bring their own protocol. */
export class OutgoingFetch {
  private readonly policy: OutgoingPlacePolicy;
  private agent: Promise<Agent> | undefined;
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
   * As the standard's, but a place that may not be called is refused, and a message that is too long ends its body.
   * @throws AppError `OUTGOING_REFUSED`, `OUTGOING_FAILED`, `SHUTTING_DOWN`; the signal's reason when it is aborted
   */
  readonly fetch = async (input: string | URL, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(input);
    this.policy.checkUrl(url);
    const dispatcher = await this.open();
    const { fetch } = await import('undici');
    try {
      const given = { ...init, dispatcher } as unknown as Parameters<typeof fetch>[1];
      return bounded(await fetch(url, given), url, this.options, this.pace);
    } catch (error) {
      init.signal?.throwIfAborted();
      throw toOutgoingError(error, url);
    }
  };

  /** Ends what goes on, too. */
  async close(): Promise<void> {
    this.isClosed = true;
    await (await this.agent)?.destroy();
  }

  private open(): Promise<Agent> {
    if (this.isClosed) throw new AppError('SHUTTING_DOWN', 'The connection is closed; nothing further is called.');
    this.agent ??= createGuardedAgent(this.policy, this.options.lookup ?? lookup);
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

/** Events are as long as bodies may be, and come no faster than leaves time for others: the server waits meanwhile. */
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
  if (length > maxBytes) throw notTaken(`A message of ${host} is longer than the ${maxBytes} bytes that are taken.`);
  if (values > MAX_VALUES)
    throw notTaken(`A message of ${host} has more than the ${MAX_VALUES} values that are taken.`);
}

/** An event ends with an empty line (HTML Standard, server-sent events). */
class EventCounter {
  /** Bytes of the event whose end has not come yet. */
  length = 0;
  private counter = new ValueCounter();
  private isLineEmpty = true;

  /** Of that event. */
  get values(): number {
    return this.counter.values;
  }

  /** Gives how many events end in the chunk. */
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
