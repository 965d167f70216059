import type { ChatResult, ChatStreamPart } from '../../llm/index.js';

/**
 * What the reader of a stream is given while the loop goes on behind it. Several replies become one: the text of each
 * goes out as it comes, and when the next one begins to speak, a `restart` says that what came before is not the answer.
 */
export class SideBand {
  private waiting: ChatStreamPart[] = [];
  private wake: () => void = () => undefined;
  private isOver = false;
  private failure: { readonly error: unknown } | null = null;
  /** The text since the last restart. */
  private shown = '';
  private hasShown = false;
  /** Whether what is shown is of an earlier reply. */
  private isStale = false;

  /** The model is asked once more. */
  begin(): void {
    this.isStale = this.hasShown;
  }

  text(text: string): void {
    this.show({ type: 'text', text });
    this.shown += text;
  }

  reasoning(text: string): void {
    this.show({ type: 'reasoning', text });
  }

  /** What came since the last one is void. */
  restart(): void {
    this.isStale = false;
    this.shown = '';
    if (!this.hasShown) return;
    this.hasShown = false;
    this.push({ type: 'restart' });
  }

  /** The answer is there: what the reader was told since the last restart is exactly its text. */
  end(result: ChatResult): void {
    const { content } = result.message;
    if (this.isStale || this.shown !== content) this.restart();
    if (this.shown !== content) this.text(content);
    this.push({ type: 'finish', result });
    this.close();
  }

  /** It came to no answer. */
  fail(error: unknown): void {
    this.failure = { error };
    this.close();
  }

  /** All parts in order, until the end; then it throws what the loop failed with, if it did. */
  async *parts(): AsyncGenerator<ChatStreamPart, void> {
    for (;;) {
      const come = this.waiting;
      this.waiting = [];
      yield* come;
      if (this.waiting.length > 0) continue;
      if (this.isOver) break;
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
    if (this.failure) throw this.failure.error;
  }

  private show(part: ChatStreamPart): void {
    if (this.isStale) this.restart();
    this.hasShown = true;
    this.push(part);
  }

  private push(part: ChatStreamPart): void {
    this.waiting.push(part);
    this.wake();
  }

  private close(): void {
    this.isOver = true;
    this.wake();
  }
}
