import type { ChatResult, ChatStreamPart } from '../../llm/chat/index.js';

/**
 * The stream of an enhanced model while its loop runs. It merges several replies into one and streams the text of each
 * at once. A `restart` before the text of the next reply voids the earlier text.
 */
export class SideBand {
  private waiting: ChatStreamPart[] = [];
  private wake: () => void = () => undefined;
  private isOver = false;
  private failure: { readonly error: unknown } | null = null;
  /** The text since the last restart. */
  private shown = '';
  private hasShown = false;
  /** Whether the shown text belongs to an earlier reply. */
  private isStale = false;

  /** Called before each model call. */
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

  /** Voids the parts since the last restart. */
  restart(): void {
    this.isStale = false;
    this.shown = '';
    if (!this.hasShown) return;
    this.hasShown = false;
    this.push({ type: 'restart' });
  }

  /** Ends the stream with the answer: the text since the last restart equals the answer's text. */
  end(result: ChatResult): void {
    const { content } = result.message;
    if (this.isStale || this.shown !== content) this.restart();
    if (this.shown !== content) this.text(content);
    this.push({ type: 'finish', result });
    this.close();
  }

  /** Ends the stream with an error. */
  fail(error: unknown): void {
    this.failure = { error };
    this.close();
  }

  /** All parts in order. @throws the error of the loop */
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
