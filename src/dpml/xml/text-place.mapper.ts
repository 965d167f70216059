/** Where in a text an offset is, for people: the text is gone through once, when the first place is asked for. */
export class TextPlaces {
  private starts: readonly number[] | undefined;

  /** @param source what the text is called in messages, such as its path */
  constructor(
    private readonly source: string,
    private readonly text: string,
  ) {}

  /** `source:line:column`, both counted from 1; columns in UTF-16 units, as editors count them. */
  at(offset: number): string {
    const starts = (this.starts ??= lineStarts(this.text));
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (starts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return `${this.source}:${low + 1}:${offset - starts[low]! + 1}`;
  }
}

/** Lines end with CRLF, LF or CR. */
function lineStarts(text: string): number[] {
  const starts = [0];
  for (const end = /\r\n?|\n/g; end.test(text);) starts.push(end.lastIndex);
  return starts;
}
