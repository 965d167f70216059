import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import type { Transformer } from 'node:stream/web';
import type { Agent } from 'undici';
import { AppError } from '../../common/index.js';
import type { OutgoingTarget } from '../../config/index.js';
import { createGuardedAgent } from './guarded-agent.factory.js';
import { toOutgoingError } from './outgoing-error.mapper.js';
import { notTaken } from './outgoing.error.js';
import { OutgoingPlacePolicy, type OutgoingRules, toPlace } from './outgoing-place.policy.js';

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };
/** Statuses of replies that have no body (Fetch Standard, null body status). */
const BODILESS = new Set([101, 103, 204, 205, 304]);
const LINE_FEED = 0x0a;

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
      return bounded(await fetch(url, given), url, this.options);
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

function bounded(response: Response, url: URL, options: OutgoingFetchOptions): Response {
  const { body, status, statusText, headers } = response;
  if (!body || BODILESS.has(status)) return response;
  const isEvents = (headers.get('content-type') ?? '').startsWith('text/event-stream');
  const stream = body.pipeThrough(new TransformStream(limitOf(url, options, isEvents)));
  const limited = new Response(stream, { status, statusText, headers });
  return Object.defineProperty(limited, 'url', { value: response.url });
}

/** Counts what comes since the last empty line, which ends an event, or in all. */
function limitOf(
  { host }: URL,
  { maxMessageBytes: maxBytes, onReceived }: OutgoingFetchOptions,
  isEvents: boolean,
): Transformer<Uint8Array, Uint8Array> {
  let length = 0;
  let isLineEmpty = true;
  const count = (chunk: Uint8Array): void => {
    for (const byte of chunk) {
      length++;
      if (byte === LINE_FEED) {
        if (isLineEmpty) length = 0;
        isLineEmpty = true;
      } else if (byte !== 0x0d) isLineEmpty = false;
    }
  };
  return {
    transform(chunk, controller) {
      onReceived?.(chunk.length);
      if (isEvents) count(chunk);
      else length += chunk.length;
      if (length > maxBytes)
        throw notTaken(`A message of ${host} is longer than the ${maxBytes} bytes that are taken.`);
      controller.enqueue(chunk);
    },
  };
}
