import type { ServerResponse } from 'node:http';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { ANTHROPIC_WIRE, OPENAI_WIRE, RESPONSES_WIRE, type FakeWire } from './fake-wires.js';
import type { FakeFaults, FakeReply, FakeRequest, FakeScript } from './fake-provider.types.js';

/** Sends one scripted reply, including its faults. */
export class FakeReplyHandler {
  /** True if the fake itself reset the connection, as opposed to an abort by the caller. */
  brokeOff = false;

  constructor(
    private readonly request: FakeRequest,
    private readonly outgoing: ServerResponse,
    private readonly wire: FakeWire = OPENAI_WIRE,
  ) {}

  /** The wire format of a path. */
  static wireAt(path: string): FakeWire {
    if (path.endsWith('/responses')) return RESPONSES_WIRE;
    return path.endsWith('/messages') ? ANTHROPIC_WIRE : OPENAI_WIRE;
  }

  async send(script: FakeScript): Promise<void> {
    let reply: FakeReply;
    try {
      reply = typeof script === 'function' ? await script(this.request) : script;
      await reply.gate;
    } catch (thrown) {
      reply = { status: 500, body: { error: { message: `The script of the fake provider threw: ${String(thrown)}` } } };
    }
    if (!this.outgoing.destroyed) await this.sendReply(reply);
  }

  private async sendReply(reply: FakeReply): Promise<void> {
    if ('hang' in reply) return;
    if ('reset' in reply) this.breakOff();
    else if ('status' in reply) this.sendBody(reply.status, reply.body, reply.headers);
    else if ('chunks' in reply) await this.sendChunks(reply.chunks, reply.type);
    else if ('events' in reply) await this.sendEvents(reply.events, reply);
    else if (this.request.stream) await this.sendEvents(this.wire.toEvents(reply, this.request), reply);
    else this.sendWhole(this.wire.toBody(reply, this.request), reply);
  }

  private sendBody(status: number, body: unknown, headers?: Readonly<Record<string, string>>): void {
    const isText = typeof body === 'string';
    const type = isText ? 'text/html; charset=utf-8' : 'application/json';
    this.outgoing.writeHead(status, { 'content-type': type, ...headers });
    this.outgoing.end(isText ? body : JSON.stringify(body));
  }

  private async sendChunks(chunks: readonly Uint8Array[], type: string): Promise<void> {
    this.outgoing.writeHead(200, { 'content-type': type });
    await this.sendPieces(chunks);
    this.outgoing.end();
  }

  /** Each in a turn of the event loop of its own: a client joins pieces that arrive together. */
  private async sendPieces(pieces: readonly (string | Uint8Array)[], pauseMs?: number): Promise<void> {
    for (const piece of pieces) {
      if (pauseMs !== undefined) await setTimeout(pauseMs);
      if (this.outgoing.destroyed) return;
      this.outgoing.write(piece);
      if (pauseMs === undefined) await setImmediate();
    }
  }

  private sendWhole(body: unknown, faults: FakeFaults): void {
    const { stallAfter, cutAfter, resetAfter } = faults;
    if ((stallAfter ?? cutAfter ?? resetAfter) === undefined) return this.sendBody(200, body);
    const json = JSON.stringify(body);
    this.outgoing.writeHead(200, { 'content-type': 'application/json' });
    this.outgoing.write(json.slice(0, json.length / 2));
    if (cutAfter !== undefined) this.outgoing.end();
    else if (resetAfter !== undefined) this.outgoing.write('', () => this.breakOff());
  }

  private async sendEvents(events: readonly unknown[], faults: FakeFaults): Promise<void> {
    const { stallAfter, cutAfter, resetAfter, drip } = faults;
    const count = stallAfter ?? cutAfter ?? resetAfter ?? events.length;
    this.outgoing.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    this.outgoing.flushHeaders();
    const frames = events.slice(0, count).map((event) => this.wire.frame(event));
    await this.sendPieces(frames, drip);
    if (stallAfter !== undefined) return;
    if (resetAfter === undefined) this.outgoing.end();
    // The chunks are sent first, then the connection is reset.
    else this.outgoing.write('', () => this.breakOff());
  }

  private breakOff(): void {
    this.brokeOff = true;
    this.outgoing.socket?.resetAndDestroy();
  }
}
