/** A name and the equals sign behind it. `export` is allowed, as in a shell script. */
const NAME = /[ \t]*(?:export[ \t]+)?([\w.-]+)[ \t]*=[ \t]*/y;
const COMMENT_OR_BLANK = /[ \t]*(?:#[^\n]*)?(?:\n|$)/y;
const UNQUOTED = /[^\n]*(?:\n|$)/y;
const MAX_FAULTS = 20;

export interface EnvFile {
  readonly values: Readonly<Record<string, string>>;
  /** One line per invalid line of the file, with its number. The line's text is not shown: it may be a secret. */
  readonly faults: readonly string[];
}

/**
 * Parses the text of a `.env` file: assignments and comments. A value may be in double quotes (`\n` is a line break),
 * single quotes or backticks, and may then have several lines; an unquoted value ends at `#` or at the end of the line.
 */
export function parseEnvFile(text: string): EnvFile {
  return new EnvFileReader(text.replaceAll(/\r\n?/g, '\n')).read();
}

class EnvFileReader {
  private readonly values: Record<string, string> = Object.create(null) as Record<string, string>;
  private readonly faults: string[] = [];
  private at = 0;

  constructor(private readonly text: string) {}

  read(): EnvFile {
    while (this.at < this.text.length) this.readStatement();
    const { values } = this;
    const more = this.faults.length - MAX_FAULTS;
    const faults = this.faults.slice(0, MAX_FAULTS);
    return { values: { ...values }, faults: more > 0 ? [...faults, `and ${more} more lines`] : faults };
  }

  private readStatement(): void {
    if (this.take(COMMENT_OR_BLANK)) return;
    const start = this.at;
    const name = this.take(NAME)?.[1];
    if (name === undefined) return this.skipLine(start, 'is neither an assignment (NAME=value) nor a comment (#)');
    const quote = this.text.charAt(this.at);
    if (/["'`]/.test(quote)) return this.readQuoted(name, quote, start);
    const [line = ''] = this.take(UNQUOTED) ?? [];
    this.values[name] = line.replace(/#.*/, '').trim();
  }

  private readQuoted(name: string, quote: string, start: number): void {
    const end = this.text.indexOf(quote, this.at + 1);
    if (end === -1) return this.skipLine(start, `has a ${quote} that is not closed`);
    const value = this.text.slice(this.at + 1, end);
    this.at = end + 1;
    if (!this.take(COMMENT_OR_BLANK)) return this.skipLine(end, `has text after the closing ${quote}`);
    this.values[name] = quote === '"' ? value.replaceAll('\\n', '\n') : value;
  }

  /** Records the error of the line at an offset, and continues at the next line. */
  private skipLine(offset: number, fault: string): void {
    const line = this.text.slice(0, offset).split('\n').length;
    this.faults.push(`line ${line} ${fault}`);
    this.at = offset;
    this.take(UNQUOTED);
  }

  private take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.text);
    if (match) this.at = pattern.lastIndex;
    return match;
  }
}
