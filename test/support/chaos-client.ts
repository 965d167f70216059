import { EventStream } from './event-stream.js';
import type { ChaosLedger, ReadSession, SentChat } from './chaos-ledger.js';
import { readSession } from './chaos-sessions.js';
import { toQuery, type ChatPlan, type Conversation } from './chaos-plan.js';
import type { WaitingRequest } from '../../src/run/decision/index.js';
import type { RunEvent } from '../../src/run/event/index.js';

interface Reply {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>> & { readonly run_id?: string; readonly waiting?: WaitingRequest[] };
}

/** A person's decision on a request, as path and body; `null` leaves it open. */
export type Decide = (
  runId: string,
  request: WaitingRequest,
) => { readonly path: string; readonly body: object } | null;

/** A client of one process. It records every answer, and throws when the process is gone. */
export class ChaosClient {
  constructor(
    private readonly url: string,
    /** The name that the process sends in its replies. */
    private readonly world: string,
    private readonly ledger: ChaosLedger,
  ) {}

  /** @param name unique in the whole test */
  async converse(conversation: Conversation, name: string): Promise<void> {
    const session = conversation.session === 'named' ? { session: `session-${name}` } : {};
    const queries = conversation.chats.map((plan: ChatPlan, i) => toQuery(`${name}-${i + 1}`, plan));
    if (conversation.atOnce) {
      await Promise.all(queries.map((query) => this.chat(conversation, { query, ...session })));
      return;
    }
    let before: string | undefined;
    for (const query of queries) {
      const chat = { query, ...session, ...(before !== undefined && session.session && { after: before }) };
      if (!(await this.chat(conversation, chat))) return;
      before = query;
    }
  }

  /** Follows a run until its stream ends. @returns the requests of a waiting run, or an empty list */
  async follow(runId: string): Promise<readonly WaitingRequest[]> {
    const stream = await EventStream.open(`${this.url}/api/runs/${runId}/events`);
    return this.listen(runId, stream);
  }

  /** Decides the first possible request of a waiting run. @returns whether a decision was accepted */
  async decide(runId: string, requests: readonly WaitingRequest[], decide: Decide): Promise<boolean> {
    for (const request of requests) {
      const decision = decide(runId, request);
      if (!decision) continue;
      const body = { callId: request.call_id, ...decision.body };
      const { status } = await this.post(`runs/${runId}/${decision.path}`, body);
      if (status !== 202) return false;
      this.ledger.decisions.push({ runId, requestId: request.id, kind: decision.path });
      // The run resumes with the first answer, and repeats its other requests.
      return true;
    }
    return false;
  }

  async get<T>(path: string): Promise<T> {
    const response = await fetch(`${this.url}/api/${path}`);
    this.check(response.headers.get('x-chaos-world'));
    if (!response.ok) throw new Error(`${path}: ${response.status}`);
    return (await response.json()) as T;
  }

  /** @returns whether it was answered to the end */
  private async chat(conversation: Conversation, chat: SentChat): Promise<boolean> {
    const body = { query: chat.query, ...(chat.session && { sessionId: chat.session }) };
    const { runId, waiting } = await this.send(conversation, chat, body);
    if (runId === null) return false;
    let asked = waiting;
    const decide = decisionsOf(conversation);
    while (await this.decide(runId, asked, decide)) asked = await this.follow(runId);
    if (chat.session !== undefined) await this.lookBack(chat.session, runId);
    return asked.length === 0;
  }

  /** Reads a complete session, and records it. */
  async read(id: string): Promise<ReadSession> {
    const session = await readSession((path) => this.get(`sessions/${path}`), id);
    this.ledger.read(id, session);
    return session;
  }

  /** Checks that a session contains every answered run. */
  private async lookBack(session: string, runId: string): Promise<void> {
    const { turns } = await this.read(session);
    const isAnswered = this.ledger.accepted.get(runId)?.result !== undefined;
    if (isAnswered && !turns.some((turn) => turn.runId === runId))
      this.ledger.contradictions.push(`${runId} was answered, and ${session} has no turn of it`);
  }

  private async send(conversation: Conversation, chat: SentChat, body: object) {
    if (conversation.how === 'stream') return this.sendStreamed(conversation, chat, body);
    const path = conversation.how === 'background' ? 'agent/runs' : 'agent/chat';
    const reply = await this.post(path, body);
    // A refusal names the run that blocks the session.
    const runId = reply.status === 409 ? null : (reply.body.run_id ?? null);
    if (runId === null) return { runId, waiting: [] };
    this.ledger.accept(runId, chat, reply.status === 200 ? String(reply.body['result']) : undefined);
    const waiting = conversation.how === 'background' ? await this.follow(runId) : (reply.body.waiting ?? []);
    return { runId, waiting };
  }

  private async sendStreamed({ cancelAfter }: Conversation, chat: SentChat, body: object) {
    const headers = { 'content-type': 'application/json' };
    const stream = await EventStream.open(`${this.url}/api/agent/chat/stream`, { method: 'POST', headers, body });
    const runId = stream.status === 200 ? String(stream.headers['x-run-id']) : null;
    if (runId === null) return { runId, waiting: [] };
    this.check(stream.headers['x-chaos-world']);
    this.ledger.accept(runId, chat);
    if (cancelAfter !== null) await this.cancel(runId, stream, cancelAfter);
    return { runId, waiting: await this.listen(runId, stream) };
  }

  private async cancel(runId: string, stream: EventStream, cancelAfter: number): Promise<void> {
    // A run that ends before can no longer be cancelled, which is valid too.
    await stream.waitFor('message.completed', cancelAfter).catch(() => undefined);
    const { status } = await this.post(`runs/${runId}/cancel`, {});
    if (status === 202) this.ledger.cancels.set(runId, Date.now());
  }

  private async listen(runId: string, stream: EventStream): Promise<readonly WaitingRequest[]> {
    if (stream.status !== 200) throw new Error(`Run ${runId} cannot be followed: ${stream.status}`);
    this.check(stream.headers['x-chaos-world']);
    const events = await stream.all();
    this.ledger.record(runId, events);
    const last = events.at(-1)?.data as RunEvent | undefined;
    return last?.type === 'run.waiting' ? last.requests : [];
  }

  private async post(path: string, body: object): Promise<Reply> {
    const response = await fetch(`${this.url}/api/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    this.check(response.headers.get('x-chaos-world'));
    return { status: response.status, body: (await response.json()) as Reply['body'] };
  }

  private check(world: unknown): void {
    if (world !== this.world) throw new Error('This is another server, on a port that was used before.');
  }
}

/** People approve or deny, and answer questions; interrupted calls are left to the settling person. */
function decisionsOf({ approves }: Conversation): Decide {
  return (_runId, { kind }) => {
    switch (kind) {
      case 'approval':
        return { path: approves ? 'approve' : 'deny', body: {} };
      case 'input':
        return { path: 'input', body: { value: 'yes' } };
      case 'outcome_unknown':
      case 'child':
        return null;
      case 'restored':
        return { path: 'release', body: {} };
    }
  };
}
