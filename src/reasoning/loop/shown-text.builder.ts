import type { ChatResult, ToolCall, ToolChoice } from '../../llm/index.js';
import { type ContentFilter, FilteredStream } from '../../security/index.js';
import type { StreamDecoder } from '../protocols/protocol.js';
import type { Loop } from '../reasoning.types.js';

/** Required call of a reply: any tool, or the named one. */
type WantedCall = Exclude<ToolChoice, 'auto' | 'none'>;

/** Required call of the current reply. Only the first iteration has one; otherwise the loop could not end. */
export function wantedCall({ request: { toolChoice }, iteration }: Loop): WantedCall | undefined {
  if (iteration > 1 || toolChoice === undefined || toolChoice === 'auto' || toolChoice === 'none') return undefined;
  return toolChoice;
}

/** Whether these calls include the required call. */
export function isCalled(loop: Loop, calls: readonly ToolCall[]): boolean {
  const wanted = wantedCall(loop);
  if (wanted === undefined) return true;
  return wanted === 'required' ? calls.length > 0 : calls.some(({ name }) => name === wanted.name);
}

/** Instruction for a model that does not support forced calls. */
export function commandTo(wanted: WantedCall): string {
  return `Your next reply must call ${describe(wanted)}.`;
}

export function describe(wanted: WantedCall): string {
  return wanted === 'required' ? 'a tool' : `the tool "${wanted.name}"`;
}

/** Publishes the visible text of a streamed reply, piece by piece. */
export class ShownText {
  private visible: StreamDecoder;
  private filtered: FilteredStream | null;
  /** Text of a reply that must call a tool, published only if the reply is usable; `null` for other replies. */
  private readonly held: string[] | null;
  /** An answer with a format is filtered by its values, which are known only when it is complete. */
  private readonly isWhole: boolean;

  constructor(
    private readonly loop: Loop,
    private readonly filter: ContentFilter | null,
  ) {
    this.visible = loop.protocol.decodeStream();
    this.filtered = filter && new FilteredStream(filter);
    this.held = wantedCall(loop) ? [] : null;
    this.isWhole = filter !== null && loop.request.responseFormat !== undefined;
  }

  push(piece: string): void {
    if (this.isWhole) return;
    const text = this.visible.push(piece);
    this.show(this.filtered ? this.filtered.push(text) : text);
  }

  /** The reply restarts. */
  restart(): void {
    const { run, iteration, protocol } = this.loop;
    this.visible = protocol.decodeStream();
    this.filtered = this.filter && new FilteredStream(this.filter);
    if (this.held) this.held.length = 0;
    else if (!run.signal.aborted) run.emit({ type: 'step.restarted', iteration, text: '' });
  }

  /** Ends a complete reply. @param filtered its visible text, filtered */
  end(filtered: string, reply: ChatResult): void {
    if (this.isWhole) return this.show(filtered);
    const text = this.visible.end(reply);
    this.show(this.filtered ? this.filtered.push(text) + this.filtered.end() : text);
  }

  /** Replaces a withheld reply by a text. */
  replaceBy(text: string): void {
    if (this.held) this.held.length = 0;
    this.show(text);
  }

  /** Publishes the held text of a usable reply. */
  release(): void {
    if (this.held) this.publish(this.held.join(''));
  }

  private show(text: string): void {
    if (this.held) this.held.push(text);
    else this.publish(text);
  }

  private publish(text: string): void {
    const { run, iteration } = this.loop;
    if (text !== '' && !run.signal.aborted) run.emit({ type: 'message.delta', iteration, text });
  }
}
