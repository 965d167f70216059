import type { ServerResponse } from 'node:http';
import { ANTHROPIC_WIRE, OPENAI_WIRE, type FakeWire } from './fake-llm-wires.js';
import type { FakeFaults, FakeReply, FakeRequest, FakeScript } from './fake-llm.types.js';

/** Sends one scripted reply, faults and all. */
export class FakeLlmHandler {
  /** Whether the fake itself broke the exchange off, so that nobody takes it for the caller. */
  brokeOff = false;

  constructor(
    private readonly request: FakeRequest,
    private readonly outgoing: ServerResponse,
    private readonly wire: FakeWire = OPENAI_WIRE,
  ) {}

  /** The wire that is spoken at an address. */
  static wireAt(path: string): FakeWire {
    return path.endsWith('/messages') ? ANTHROPIC_WIRE : OPENAI_WIRE;
  }

  async send(script: FakeScript): Promise<void> {
    let reply: FakeReply;
    try {
      reply = typeof script === 'function' ? await script(this.request) : script;
      await reply.gate;
    } catch (thrown) {
      reply = { status: 500, body: { error: { message: `The script of the fake LLM threw: ${String(thrown)}` } } };
    }
    if (!this.outgoing.destroyed) this.sendReply(reply);
  }

  private sendReply(reply: FakeReply): void {
    if ('hang' in reply) return;
    if ('reset' in reply) this.breakOff();
    else if ('status' in reply) this.sendBody(reply.status, reply.body, reply.headers);
    else if ('events' in reply) this.sendEvents(reply.events, reply);
    else if (this.request.stream) this.sendEvents(this.wire.toEvents(reply, this.request), reply);
    else this.sendBody(200, this.wire.toBody(reply, this.request));
  }

  private sendBody(status: number, body: unknown, headers?: Readonly<Record<string, string>>): void {
    const isText = typeof body === 'string';
    const type = isText ? 'text/html; charset=utf-8' : 'application/json';
    this.outgoing.writeHead(status, { 'content-type': type, ...headers });
    this.outgoing.end(isText ? body : JSON.stringify(body));
  }

  private sendEvents(events: readonly unknown[], faults: FakeFaults): void {
    const { stallAfter, cutAfter, resetAfter } = faults;
    const count = stallAfter ?? cutAfter ?? resetAfter ?? events.length;
    this.outgoing.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    this.outgoing.flushHeaders();
    for (const event of events.slice(0, count)) {
      this.outgoing.write(this.wire.frame(event));
    }
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
