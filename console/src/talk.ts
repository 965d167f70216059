import { signal } from '@preact/signals';
import { apiUrl, post, request, send } from './api';
import { applyEvent, EMPTY_ANSWER, type Answer, type Exchange, toExchanges } from './conversation';
import { followRun } from './events';
import type { Message } from './types';

/** Who answers the next question. Empty texts select the default. */
export interface Choice {
  readonly agent: string;
  readonly model: string;
  readonly effort: string;
}

/** The conversation of a session, and the run that answers now. */
export class Talk {
  readonly exchanges = signal<readonly Exchange[]>([]);
  /** The run that answers; empty until its id is known, `null` without one. */
  readonly running = signal<string | null>(null);
  readonly isConnected = signal(true);
  readonly error = signal<Error | null>(null);
  private readonly ends = new AbortController();

  /** @param started the id of the session; `undefined` for a new session, which the first question starts */
  constructor(private started: string | undefined) {}

  get sessionId(): string | undefined {
    return this.started;
  }

  close(): void {
    this.ends.abort();
  }

  /** Reads the session, and follows its run if one is open. */
  async load(): Promise<void> {
    if (this.sessionId === undefined) return;
    try {
      this.exchanges.value = await loadSession(this.sessionId, this.ends.signal);
      const last = this.exchanges.value.at(-1);
      if (last?.answer.status === 'running' && last.answer.runId !== null)
        await this.follow(last.key, last.answer.runId);
    } catch (error) {
      this.fail(error);
    }
  }

  /** Takes the id of the session that the first question started. */
  begin(sessionId: string): void {
    this.started = sessionId;
  }

  /** @returns the id of the run; `undefined` if it was not started */
  async ask(query: string, images: readonly string[], choice: Choice): Promise<string | undefined> {
    const key = `question ${this.exchanges.value.length}`;
    this.error.value = null;
    this.exchanges.value = [...this.exchanges.value, { key, query, images, answer: EMPTY_ANSWER }];
    this.running.value = '';
    try {
      const response = await send(apiUrl('agent/chat/stream'), {
        method: 'POST',
        body: bodyOf(query, images, choice, this.sessionId),
        signal: this.ends.signal,
      });
      const runId = response.headers.get('x-run-id') ?? '';
      await this.follow(key, runId, response);
      return runId;
    } catch (error) {
      this.exchanges.value = this.exchanges.value.filter((each) => each.key !== key);
      this.running.value = null;
      this.fail(error);
      return undefined;
    }
  }

  async stop(): Promise<void> {
    if (this.running.value) await post(`runs/${this.running.value}/cancel`);
  }

  /** Follows a run again after a decision: its stream ended with the request. */
  async resume(runId: string): Promise<void> {
    const found = this.exchanges.value.find(({ answer }) => answer.runId === runId);
    if (!found) return;
    // The events are read from the start.
    this.change(found.key, () => EMPTY_ANSWER);
    await this.follow(found.key, runId);
  }

  private async follow(key: string, runId: string, first?: Response): Promise<void> {
    this.running.value = runId;
    this.error.value = null;
    try {
      await followRun(
        runId,
        {
          signal: this.ends.signal,
          onEvent: (event) => this.change(key, (answer) => applyEvent(answer, event)),
          onConnection: (isConnected) => {
            this.isConnected.value = isConnected;
          },
        },
        first,
      );
    } catch (error) {
      this.fail(error);
      this.change(key, (answer) => ({ ...answer, status: 'failed' }));
    } finally {
      this.running.value = null;
    }
  }

  private change(key: string, update: (answer: Answer) => Answer): void {
    this.exchanges.value = this.exchanges.value.map((each) =>
      each.key === key ? { ...each, answer: update(each.answer) } : each,
    );
  }

  private fail(error: unknown): void {
    if (!this.ends.signal.aborted) this.error.value = error as Error;
  }
}

/** Asks an earlier question again, in a new branch of its session. @returns the new run */
export function askAgain(runId: string, query: string): Promise<{ run_id: string; session_id: string | null }> {
  return post(`runs/${runId}/fork`, { fromStep: 'model:1', edit: { message: query } });
}

/** The turns of a session, and its open run, which is in no turn yet. */
async function loadSession(id: string, ends: AbortSignal): Promise<Exchange[]> {
  const path = encodeURIComponent(id);
  const messages: Message[] = [];
  let after: number | null = 0;
  while (after !== null) {
    const page: { messages: readonly Message[]; next: number | null } = await request(
      `sessions/${path}/messages`,
      { after, limit: 200 },
      { signal: ends },
    );
    messages.push(...page.messages);
    after = page.next;
  }
  const { runs } = await request<{ runs: readonly { run_id: string; query_preview?: string | null }[] }>(
    'runs',
    { sessionId: id, status: 'queued,running,waiting', limit: 1 },
    { signal: ends },
  );
  const open = runs.map(({ run_id, query_preview }) => ({
    key: run_id,
    query: query_preview ?? '…',
    images: [],
    answer: { ...EMPTY_ANSWER, runId: run_id },
  }));
  return [...toExchanges(messages), ...open];
}

/** The body of a chat request. */
export function bodyOf(
  query: string,
  images: readonly string[],
  { agent, model, effort }: Choice,
  sessionId: string | undefined,
): object {
  return {
    query,
    ...(sessionId !== undefined && { sessionId }),
    ...(agent !== '' && { agent }),
    ...(model.trim() !== '' && { model: model.trim() }),
    ...(effort !== '' && { parameters: { effort } }),
    ...(images.length > 0 && { images: images.map((url) => ({ url })) }),
  };
}
