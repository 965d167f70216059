const THINK_END = /<\/think(?:ing)?>/;
const LONGEST_END = '</thinking>'.length;

/** Reads a `<think>` block in pieces up to its end, which may be cut. */
export class ThinkParser {
  private tail = '';

  /** @returns what is certain to be of the block, and where in the piece it ends, if it does */
  read(piece: string, at: number): { readonly text: string; readonly end: number | null } {
    const known = this.tail.length;
    const text = this.tail + piece.slice(at);
    const match = THINK_END.exec(text);
    const certain = match ? match.index : Math.max(0, text.length - LONGEST_END);
    this.tail = match ? '' : text.slice(certain);
    return { text: text.slice(0, certain), end: match && at + match.index + match[0].length - known };
  }

  /** What was held back when the reply ends. */
  rest(): string {
    const { tail } = this;
    this.tail = '';
    return tail;
  }
}
