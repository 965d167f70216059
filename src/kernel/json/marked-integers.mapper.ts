import { randomBytes } from 'node:crypto';
import { markExact, restoreExact } from './exact-json.parser.js';

const LINE_END = /[\r\n]/;

/**
 * Passes exact integers through a library that parses JSON itself. Before it, they become strings with a random mark,
 * which no peer can guess; after it, `restore` converts these back. For one connection.
 */
export class MarkedIntegers {
  private readonly mark = `${randomBytes(12).toString('base64url')}:`;
  /** False until an integer is marked; nothing has to be restored before that. */
  private isUsed = false;

  /**
   * Creates a function that takes a text in pieces and returns its complete lines, marked. Without a piece it returns the rest.
   * A JSON token never spans two lines, so every line is marked separately.
   * @param isJson whether a line contains JSON
   */
  marker(isJson: (line: string) => boolean = () => true): (piece?: string) => string {
    let open = '';
    return (piece) => {
      const end = piece === undefined ? open.length : open.length + lastLineEnd(piece) + 1;
      if (piece !== undefined && end === open.length) {
        open += piece;
        return '';
      }
      const text = open + (piece ?? '');
      open = text.slice(end);
      return text
        .slice(0, end)
        .split(/(?<=[\r\n])/)
        .map((line) => (isJson(line) ? this.marked(line) : line))
        .join('');
    };
  }

  /** A parsed message with its exact integers. */
  restore(value: unknown): unknown {
    return this.isUsed ? restoreExact(value, this.mark) : value;
  }

  private marked(line: string): string {
    const marked = markExact(line, this.mark);
    if (marked !== line) this.isUsed = true;
    return marked;
  }
}

function lastLineEnd(piece: string): number {
  return LINE_END.test(piece) ? Math.max(piece.lastIndexOf('\n'), piece.lastIndexOf('\r')) : -1;
}
