const THINK = /^<think(?:ing)?>/i;
const THINK_START = /^<(?:t(?:h(?:i(?:n(?:k(?:i(?:n(?:g)?)?)?)?)?)?)?)?$/i;
const THINK_END = /<\/think(?:ing)?>/i;
const LONGEST_END = '</thinking>'.length;
const NO_BLANK = /\S/g;
/** The opening line of a fence around the whole reply. */
const FENCE = /^```[\w+#.-]{0,20}[ \t\r]{0,8}\n/;
const FENCE_START = /^(?:`{1,2}|```[\w+#.-]{0,20}[ \t\r]{0,8})$/;
const LONGEST_FENCE = 32;

/**
 * Extracts the `<think>` blocks at the start of a reply, perhaps in a fence: models that reason in their text write
 * them there. Later in a reply such a tag is text. A block without an end extends to the end of the reply, or is text.
 */
export class ThinkParser {
  /** One entry for each block, trimmed; complete after `end()`. */
  readonly thoughts: string[] = [];
  private mode: 'start' | 'think' | 'text' = 'start';
  /** Space at the start, which belongs to the text; empty after a block. */
  private space = '';
  private isAfterBlock = false;
  /** The opening line of a fence at the start, which belongs to the text. */
  private fence = '';
  /** Possible start of a tag or fence line at the start of the reply, or of an end tag in a block. */
  private tail = '';
  private thought = '';
  /** The start tag of the current block, with the space before it. */
  private tag = '';
  private open = '';

  /** The content of a block without an end, after the end of the reply. */
  get unclosed(): string {
    return this.open;
  }

  /** @returns the text outside of blocks, with text that was held back */
  push(piece: string): string {
    let rest = piece;
    while (this.mode !== 'text') {
      const next = this.mode === 'start' ? this.readStart(rest) : this.readThought(rest);
      if (next === null) return '';
      rest = next;
    }
    return rest;
  }

  /**
   * @param isText whether a block without an end is text
   * @returns text that was held back and is not markup
   */
  end(isText = false): string {
    const { mode } = this;
    this.mode = 'text';
    if (mode === 'start') return this.fence + this.space + this.tail;
    if (mode === 'think' && isText) return this.fence + this.tag + this.thought + this.tail;
    if (mode === 'think') this.open = this.keep(this.tail);
    return '';
  }

  /** @returns the rest, or null if all of it was consumed */
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
    const opened = this.takeMarkup(head);
    if (opened > 0) return piece.slice(at + opened - known);
    this.mode = 'text';
    return this.fence + this.space + head + piece.slice(at + head.length - known);
  }

  private get mayBeFenced(): boolean {
    return this.fence === '' && !this.isAfterBlock;
  }

  private mayBecomeMarkup(head: string): boolean {
    return head === '' || THINK_START.test(head) || (this.mayBeFenced && FENCE_START.test(head));
  }

  /** @returns the length of the markup; 0 for other text */
  private takeMarkup(head: string): number {
    const start = THINK.exec(head)?.[0];
    if (start !== undefined) {
      this.mode = 'think';
      this.tag = this.space + start;
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

/**
 * A whole reply without the `<think>` blocks at its start, and these.
 * @param isText whether a block without an end is text; false by default
 */
export function splitThoughts(
  reply: string,
  isText?: boolean,
): { readonly text: string; readonly thoughts: readonly string[] } {
  const parser = new ThinkParser();
  const text = parser.push(reply) + parser.end(isText);
  return { text, thoughts: parser.thoughts };
}

function endOfSpace(text: string): number {
  NO_BLANK.lastIndex = 0;
  return NO_BLANK.test(text) ? NO_BLANK.lastIndex - 1 : text.length;
}
