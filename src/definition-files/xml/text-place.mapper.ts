/** Converts offsets of a text to readable positions; indexes the lines on first use. */
export class TextPlaces {
  private starts: readonly number[] | undefined;

  /** @param source name of the text in messages, such as its path */
  constructor(
    private readonly source: string,
    private readonly text: string,
  ) {}

  /** `source:line:column`, both from 1; columns in UTF-16 units, as in editors. */
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

/** Offsets of the line starts. Lines end with CRLF, LF or CR. */
function lineStarts(text: string): number[] {
  const starts = [0];
  for (const end = /\r\n?|\n/g; end.test(text);) starts.push(end.lastIndex);
  return starts;
}
