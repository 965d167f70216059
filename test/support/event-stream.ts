import { once } from 'node:events';
import { request, type ClientRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { RunEvent } from '../../src/run/event/index.js';
import { assertEvent } from './contract.js';
import { inTime } from './patience.js';

export interface SseEvent {
  /** The event's number in the journal; `null` for a live one. */
  readonly id: number | null;
  /** The event's `id` as received, for `Last-Event-ID`; `null` if it has none. */
  readonly place: string | null;
  readonly event: string;
  readonly data: RunEvent & Record<string, unknown>;
}

export interface StreamRequest {
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** A client of server-sent events on a connection of its own, which can read, wait, pause and disconnect. */
export class EventStream {
  readonly events: SseEvent[] = [];
  hasEnded = false;
  private text = '';
  private lastCharacter = '';
  private readonly waiters = new Set<() => void>();
  /** The first event that is not in the OpenAPI document. */
  private fault: Error | undefined;

  private constructor(
    private readonly outgoing: ClientRequest,
    private readonly incoming: IncomingMessage,
  ) {
    incoming.setEncoding('utf8');
    incoming.on('data', (piece: string) => this.change(() => this.take(piece)));
    incoming.on('error', () => undefined);
    incoming.on('close', () => this.change(() => (this.hasEnded = true)));
  }

  static async open(url: string, { method = 'GET', headers = {}, body }: StreamRequest = {}): Promise<EventStream> {
    const outgoing = request(url, { method, agent: false, headers });
    outgoing.on('error', () => undefined);
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
    return new EventStream(outgoing, incoming);
  }

  get status(): number {
    return this.incoming.statusCode ?? 0;
  }

  get headers(): IncomingHttpHeaders {
    return this.incoming.headers;
  }

  /** The run id of a streamed chat, from its headers. */
  get runId(): string {
    return String(this.headers['x-run-id']);
  }

  /** Received text that is not an event: the body of a refusal. */
  get rest(): string {
    return this.text;
  }

  /** Waits for an event of the type. Throws when the stream ends without one. */
  async waitFor(type: RunEvent['type'], count = 1): Promise<SseEvent> {
    const found = () => this.events.filter(({ event }) => event === type)[count - 1];
    await this.waitUntil(() => found() !== undefined || this.hasEnded);
    const event = found();
    if (!event) throw new Error(`The stream ended without ${type}: ${this.types().join(' ')}`);
    return event;
  }

  /** Waits until the deltas so far are this text: the server joins pieces that arrive together. */
  async waitForText(text: string): Promise<void> {
    await this.waitUntil(() => this.deltas() === text || this.hasEnded);
    if (this.deltas() !== text) throw new Error(`The stream ended with the text ${JSON.stringify(this.deltas())}`);
  }

  /** All events, to the stream's end. */
  async all(): Promise<SseEvent[]> {
    await this.waitUntil(() => this.hasEnded);
    return this.events;
  }

  /** The first `count` events, or all if the stream ends before. */
  async first(count: number): Promise<SseEvent[]> {
    await this.waitUntil(() => this.events.length >= count || this.hasEnded);
    return this.events.slice(0, count);
  }

  types(): string[] {
    return this.events.map(({ event }) => event);
  }

  /** The text of the deltas so far. */
  deltas(): string {
    return this.events.map(({ data }) => (data.type === 'message.delta' ? data.text : '')).join('');
  }

  pause(): void {
    this.incoming.pause();
  }

  resume(): void {
    this.incoming.resume();
  }

  /** Disconnects without a message. */
  leave(): void {
    this.outgoing.destroy();
  }

  private take(piece: string): void {
    const isWhole = (this.lastCharacter + piece).includes('\n\n');
    this.lastCharacter = piece.slice(-1);
    this.text += piece;
    // An event may have megabytes: it is scanned once.
    if (!isWhole) return;
    const blocks = this.text.split('\n\n');
    this.text = blocks.pop() ?? '';
    for (const block of blocks) {
      const event = parseBlock(block);
      if (!event) continue;
      this.events.push(event);
      this.check(event);
    }
  }

  private check({ data }: SseEvent): void {
    try {
      assertEvent(data);
    } catch (error) {
      this.fault ??= error as Error;
    }
  }

  private change(happen: () => void): void {
    happen();
    for (const check of this.waiters) check();
  }

  private waitUntil(isTrue: () => boolean): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const check = () => {
      if (!isTrue()) return;
      this.waiters.delete(check);
      if (this.fault) reject(this.fault);
      else resolve();
    };
    this.waiters.add(check);
    check();
    return inTime(promise, () => `the stream has ${this.types().join(' ')} and the rest ${JSON.stringify(this.text)}`);
  }
}

/** A block of lines as an event; `null` for one of comments only. */
function parseBlock(block: string): SseEvent | null {
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    const colon = line.indexOf(': ');
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 2));
  }
  const event = fields.get('event');
  if (event === undefined) return null;
  const place = fields.get('id') ?? null;
  return {
    id: place === null || place.includes('.') ? null : Number(place),
    place,
    event,
    data: JSON.parse(fields.get('data') ?? '') as SseEvent['data'],
  };
}
