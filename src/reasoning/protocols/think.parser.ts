const THINK = /^<think(?:ing)?>/i;
const THINK_BEGUN = /^<(?:t(?:h(?:i(?:n(?:k(?:i(?:n(?:g)?)?)?)?)?)?)?)?$/i;
const THINK_END = /<\/think(?:ing)?>/i;
const LONGEST_END = '</thinking>'.length;
const NO_BLANK = /\S/g;
/** A line that opens a fence around the whole reply. */
const FENCE = /^```[\w+#.-]{0,20}[ \t\r]{0,8}\n/;
const FENCE_BEGUN = /^(?:`{1,2}|```[\w+#.-]{0,20}[ \t\r]{0,8})$/;
const LONGEST_FENCE = 32;

/**
 * Takes the `<think>` blocks out of a reply that begins with them, perhaps in a fence: models that reason in their text write
 * them there. Further on in a reply such a tag is text. A block without an end goes up to the reply's end.
 */
export class ThinkParser {
  /** One for each block, without the space around it; complete after `end()`. */
  readonly thoughts: string[] = [];
  private mode: 'start' | 'think' | 'text' = 'start';
  /** Space at the start, which belongs to a text; none after a block. */
  private space = '';
  private isAfterBlock = false;
  /** The line that opens a fence before all else, which belongs to the text. */
  private fence = '';
  /** What may become a tag or that line: the first one of a block at the start, its last one in it. */
  private tail = '';
  private thought = '';
  private open = '';

  /** What stands in a block without an end, once the reply has ended. */
  get unclosed(): string {
    return this.open;
  }

  /** @returns what of the piece, and of what was held back, belongs to no block */
  push(piece: string): string {
    let rest = piece;
    while (this.mode !== 'text') {
      const next = this.mode === 'start' ? this.readStart(rest) : this.readThought(rest);
      if (next === null) return '';
      rest = next;
    }
    return rest;
  }

  /** @returns what was held back and is text after all */
  end(): string {
    if (this.mode === 'think') this.open = this.keep(this.tail);
    const rest = this.mode === 'start' ? this.fence + this.space + this.tail : '';
    this.mode = 'text';
    return rest;
  }

  /** @returns the rest, or null when it is all read */
  private readStart(piece: string): string | null {
    const at = this.tail === '' ? endOfSpace(piece) : 0;
    if (!this.isAfterBlock) this.space += piece.slice(0, at);
    const known = this.tail.length;
    const head = this.tail + piece.slice(at, at + LONGEST_FENCE - known);
    if (this.mayBecomeMarkup(head)) {
      this.tail = head;
      return null;
    }
    this.tail = '';
    const begun = this.takeMarkup(head);
    if (begun > 0) return piece.slice(at + begun - known);
    this.mode = 'text';
    return this.fence + this.space + head + piece.slice(at + head.length - known);
  }

  private get mayBeFenced(): boolean {
    return this.fence === '' && !this.isAfterBlock;
  }

  private mayBecomeMarkup(head: string): boolean {
    return head === '' || THINK_BEGUN.test(head) || (this.mayBeFenced && FENCE_BEGUN.test(head));
  }

  /** @returns how long it is, 0 for none */
  private takeMarkup(head: string): number {
    const start = THINK.exec(head)?.[0];
    if (start !== undefined) {
      this.mode = 'think';
      this.space = '';
      this.isAfterBlock = true;
      return start.length;
    }
    const line = this.mayBeFenced ? FENCE.exec(head)?.[0] : undefined;
    if (line === undefined) return 0;
    this.fence = this.space + line;
    this.space = '';
    return line.length;
  }

  private readThought(piece: string): string | null {
    const text = this.tail + piece;
    const end = THINK_END.exec(text);
    if (end) {
      this.keep(text.slice(0, end.index));
      this.tail = '';
      this.mode = 'start';
      return text.slice(end.index + end[0].length);
    }
    const certain = Math.max(0, text.length - LONGEST_END);
    this.thought += text.slice(0, certain);
    this.tail = text.slice(certain);
    return null;
  }

  private keep(text: string): string {
    const thought = (this.thought + text).trim();
    if (thought !== '') this.thoughts.push(thought);
    this.thought = '';
    return thought;
  }
}

function endOfSpace(text: string): number {
  NO_BLANK.lastIndex = 0;
  return NO_BLANK.test(text) ? NO_BLANK.lastIndex - 1 : text.length;
}
