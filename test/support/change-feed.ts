import { inTime } from './patience.js';

/** A run in a `run.changed` event; tests check some of its fields. */
export interface ChangedRun {
  readonly run_id: string;
  readonly status: string;
  readonly error_code: string | null;
  readonly query_preview: string | null;
}

/** A client of `GET /api/events`. */
export class ChangeFeed {
  readonly runs: ChangedRun[] = [];
  /** The id of the last event. */
  position = '';
  hasEnded = false;
  private readonly leaves = new AbortController();
  private waiters: (() => void)[] = [];

  static async open(
    url: string,
    headers: Readonly<Record<string, string>>,
    { after = '', query = '' } = {},
  ): Promise<ChangeFeed> {
    const feed = new ChangeFeed();
    const response = await fetch(`${url}/api/events${query}`, {
      headers: { ...headers, ...(after !== '' && { 'last-event-id': after }) },
      signal: feed.leaves.signal,
    });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    void feed.read(response.body!).catch(() => undefined);
    await feed.until(() => feed.position !== '');
    return feed;
  }

  leave(): void {
    this.leaves.abort();
  }

  /** Resolves when the feed has reported the status of the run. Rejects when it ends before, or after `PATIENCE_MS`. */
  async waitFor(runId: string, status: string): Promise<ChangedRun> {
    const found = () => this.runs.find((run) => run.run_id === runId && run.status === status);
    const state = () => `${status} of ${runId} in the feed: ${JSON.stringify(this.runs)}`;
    await inTime(
      this.until(() => found() !== undefined || this.hasEnded),
      state,
    );
    const run = found();
    if (!run) throw new Error(`The feed ended without ${state()}`);
    return run;
  }

  ended(): Promise<void> {
    return this.until(() => this.hasEnded);
  }

  private async read(body: ReadableStream<Uint8Array>): Promise<void> {
    let text = '';
    const decoder = new TextDecoder();
    try {
      for await (const bytes of body) {
        const blocks = (text + decoder.decode(bytes, { stream: true })).split('\n\n');
        text = blocks.pop()!;
        for (const block of blocks) this.take(block);
        this.check();
      }
    } finally {
      this.hasEnded = true;
      this.check();
    }
  }

  private take(block: string): void {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1];
    const data = field('data');
    if (data === undefined) return;
    const { type, run } = JSON.parse(data) as { type: string; run?: ChangedRun };
    if (type !== field('event')) throw new Error(`event ${field('event')} has data of ${type}`);
    this.position = field('id')!;
    if (run) this.runs.push(run);
  }

  private async until(isTrue: () => boolean): Promise<void> {
    while (!isTrue()) await new Promise<void>((resolve) => this.waiters.push(resolve));
  }

  private check(): void {
    const { waiters } = this;
    this.waiters = [];
    for (const wake of waiters) wake();
  }
}
