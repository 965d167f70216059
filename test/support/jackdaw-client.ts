import { assertContract } from './contract.js';
import { EventStream, type SseEvent } from './event-stream.js';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; each test checks the shape that it expects. */
  readonly body: Record<string, never>;
}

type Headings = Readonly<Record<string, string>>;

const JSON_TYPE: Headings = { 'content-type': 'application/json' };

/** The requests to a server over HTTP, in this process or in another one. */
export abstract class JackdawClient {
  abstract readonly url: string;

  chat(body: unknown, headers: Headings = {}): Promise<Answer> {
    return this.post('/api/agent/chat', body, headers);
  }

  /** Posts a body as JSON; a text is sent unchanged. */
  post(path: string, body?: unknown, headers: Headings = {}): Promise<Answer> {
    if (body === undefined) return this.send(path, { method: 'POST', headers });
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return this.send(path, { method: 'POST', headers: { ...JSON_TYPE, ...headers }, body: text });
  }

  patch(path: string, body: unknown, headers: Headings = {}): Promise<Answer> {
    return this.send(path, { method: 'PATCH', body: JSON.stringify(body), headers: { ...JSON_TYPE, ...headers } });
  }

  delete(path: string, headers: Headings = {}): Promise<Answer> {
    return this.send(path, { method: 'DELETE', headers });
  }

  get(path: string, headers: Headings = {}): Promise<Answer> {
    return this.send(path, { headers });
  }

  async send(path: string, init: RequestInit): Promise<Answer> {
    const reply = await fetch(`${this.url}${path}`, init);
    const text = await reply.text();
    const type = reply.headers.get('content-type');
    assertContract({ method: init.method ?? 'GET', path, status: reply.status, type, text });
    const isJson = reply.headers.get('content-type')?.includes('json') ?? false;
    const body = (isJson && text !== '' ? JSON.parse(text) : {}) as Answer['body'];
    return { status: reply.status, headers: reply.headers, text, body };
  }

  /** A streamed chat. */
  stream(body: unknown, headers: Headings = {}): Promise<EventStream> {
    return EventStream.open(`${this.url}/api/agent/chat/stream`, {
      method: 'POST',
      headers: { ...JSON_TYPE, ...headers },
      body,
    });
  }

  /** A run's events after an id. */
  follow(runId: string, after?: number | string, headers: Headings = {}): Promise<EventStream> {
    const place: Headings = after === undefined ? {} : { 'last-event-id': String(after) };
    return EventStream.open(`${this.url}/api/runs/${runId}/events`, { headers: { ...place, ...headers } });
  }

  /** All events of a run, to the end of its stream. */
  async events(runId: string, headers: Headings = {}): Promise<SseEvent[]> {
    return (await this.follow(runId, undefined, headers)).all();
  }

  /** The messages of a session, without values that differ from run to run. */
  async messages(sessionId: string, headers: Headings = {}): Promise<Record<string, unknown>[]> {
    const { body } = await this.get(`/api/sessions/${sessionId}/messages`, headers);
    const messages = body['messages'] as unknown as Record<string, unknown>[];
    return messages.map(({ created_at: _at, run_id: _run, ...message }) => message);
  }
}
