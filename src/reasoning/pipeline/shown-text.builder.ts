import { FilteredStream, type ContentFilter } from '../../security/index.js';
import type { StreamDecoder } from '../protocols/protocol.js';
import type { Loop } from '../reasoning.types.js';
import { wantedCall } from './call-choice.policy.js';

/** Tells, piece by piece, what the user may read of a reply that comes. */
export class ShownText {
  private visible: StreamDecoder;
  private filtered: FilteredStream | null;
  /** What may have to be asked for again is not shown before it is there. */
  private readonly held: string[] | null;
  /** An answer that must have a format is filtered by its values, which are known when it is whole. */
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

  /** The reply begins anew. */
  restart(): void {
    const { run, iteration, protocol } = this.loop;
    this.visible = protocol.decodeStream();
    this.filtered = this.filter && new FilteredStream(this.filter);
    if (this.held) this.held.length = 0;
    else if (!run.signal.aborted) run.emit({ type: 'step.restarted', iteration, text: '' });
  }

  /** The reply is whole. @param filtered its visible text */
  end(filtered: string): void {
    if (this.isWhole) return this.show(filtered);
    const text = this.visible.end();
    this.show(this.filtered ? this.filtered.push(text) + this.filtered.end() : text);
  }

  /** The reply is withheld: this stands for it. */
  replaceBy(text: string): void {
    if (this.held) this.held.length = 0;
    this.show(text);
  }

  /** The reply will not be asked for again. */
  release(): void {
    if (this.held) this.tell(this.held.join(''));
  }

  private show(text: string): void {
    if (this.held) this.held.push(text);
    else this.tell(text);
  }

  private tell(text: string): void {
    const { run, iteration } = this.loop;
    if (text !== '' && !run.signal.aborted) run.emit({ type: 'message.delta', iteration, text });
  }
}
