import type { CallBuilder } from './call.builder.js';
import { readTag, type Tag } from './tag.parser.js';
import { isAny, isInvoke, isOuter, isResults, isWrapper } from './tag-name.policy.js';

type State = 'elements' | 'json' | 'value' | 'cdata' | 'closed' | 'results';

const MARK = /[<{[]/g;
const CDATA = '<![CDATA[';
const CDATA_END = ']]>';
/** Some models put the parameters into one more element. */
const TRANSPARENT: ReadonlySet<string> = new Set(['parameters', 'arguments']);

/** Reads one block of calls, in pieces: text up to where `read` returns needs not be given again. */
export class BlockParser {
  private state: State = 'elements';
  private readonly wrappers: string[] = [];
  /** The tag whose value is being read, and the value so far. */
  private open: Tag | null = null;
  private value = '';

  /** @param isLenient whether a value also ends where the call does: set once it is known that one has no end */
  constructor(
    first: Tag,
    private readonly calls: CallBuilder,
    private isLenient: boolean,
  ) {
    this.enter(first);
  }

  get isClosed(): boolean {
    return this.state === 'closed' || this.state === 'results';
  }

  /** Whether it ended with results, which only we may write. */
  get hasInvented(): boolean {
    return this.state === 'results';
  }

  /** @returns up to where the text was used */
  read(text: string, from: number, isFinal: boolean): number {
    let at = from;
    while (at < text.length && !this.isClosed) {
      const next = this.step(text, at, isFinal);
      if (next === at) break;
      at = next;
    }
    return at;
  }

  /** Of a value that the end of the reply left open: its text, to be read once more with other eyes. */
  reopen(): string {
    if (this.isLenient || (this.state !== 'value' && this.state !== 'cdata')) return '';
    const text = this.value;
    this.isLenient = true;
    this.state = 'value';
    this.value = '';
    return text;
  }

  /** Ends whatever is open. */
  end(): void {
    if (this.state === 'value' || this.state === 'cdata') this.closeValue();
    if (this.state === 'json') this.calls.endJson();
    this.calls.end();
    if (!this.isClosed) this.state = 'closed';
  }

  private step(text: string, at: number, isFinal: boolean): number {
    if (this.state === 'cdata') return this.readCdata(text, at, isFinal);
    MARK.lastIndex = at;
    const index = MARK.exec(text)?.index ?? text.length;
    if (index > at) return this.keep(text, at, index);
    if (text.charAt(at) !== '<') return this.readBracket(text, at);
    return this.state === 'value' ? this.readInValue(text, at, isFinal) : this.readElement(text, at, isFinal);
  }

  private readBracket(text: string, at: number): number {
    if (this.state === 'elements' && !this.calls.isOpen && !this.calls.hasLooseText) this.state = 'json';
    return this.keep(text, at, at + 1);
  }

  private readElement(text: string, at: number, isFinal: boolean): number {
    const tag = readTag(text, at, this.accepts);
    if (tag === 'none') return this.keep(text, at, at + 1);
    if (tag === 'partial') return isFinal ? text.length : at;
    this.enter(tag);
    return tag.end;
  }

  private readInValue(text: string, at: number, isFinal: boolean): number {
    if (!this.isLenient && text.startsWith('<!', at)) return this.readCdataStart(text, at, isFinal);
    const tag = readTag(text, at, this.endsValue);
    if (tag === 'partial') return this.readCutTag(text, at, isFinal);
    if (tag === 'none' || !(this.isLenient || tag.isClose)) return this.keep(text, at, at + 1);
    this.closeValue();
    if (tag.name !== this.open!.name || !tag.isClose) this.enter(tag);
    return tag.end;
  }

  /** An end tag that the end of the reply cuts ends its value all the same. */
  private readCutTag(text: string, at: number, isFinal: boolean): number {
    if (!isFinal) return at;
    if (text.charAt(at + 1) !== '/') return this.keep(text, at, at + 1);
    this.closeValue();
    return text.length;
  }

  private readCdataStart(text: string, at: number, isFinal: boolean): number {
    const start = text.slice(at, at + CDATA.length);
    if (start.toUpperCase() === CDATA) {
      this.state = 'cdata';
      return this.keep(text, at, at + CDATA.length);
    }
    if (!isFinal && CDATA.startsWith(start.toUpperCase())) return at;
    return this.keep(text, at, at + 1);
  }

  private readCdata(text: string, at: number, isFinal: boolean): number {
    const index = text.indexOf(CDATA_END, at);
    if (index >= 0) {
      this.state = 'value';
      return this.keep(text, at, index + CDATA_END.length);
    }
    return this.keep(text, at, isFinal ? text.length : Math.max(at, text.length - CDATA_END.length + 1));
  }

  private keep(text: string, from: number, to: number): number {
    const piece = text.slice(from, to);
    if (this.state === 'value' || this.state === 'cdata') this.value += piece;
    else this.calls.addText(piece);
    return to;
  }

  private readonly accepts = (name: string): boolean => {
    if (this.state === 'json') return isWrapper(name) || isResults(name);
    return this.calls.isJsonBody ? isOuter(name) || TRANSPARENT.has(name) : isAny();
  };

  private readonly endsValue = (name: string): boolean =>
    name === this.open!.name || (this.isLenient && (isOuter(name) || name === 'parameter'));

  private closeValue(): void {
    this.state = 'elements';
    this.addParameter(this.open!, this.value);
    this.value = '';
  }

  private addParameter({ name: element, attributes }: Tag, text: string): void {
    const string = attributes.get('string')?.toLowerCase();
    const name = element === 'parameter' ? (attributes.get('name') ?? '') : element;
    this.calls.add(element, { name, text, ...(string !== undefined && { string }) });
  }

  private enter(tag: Tag): void {
    if (isResults(tag.name)) this.enterResults();
    else if (isWrapper(tag.name)) this.enterWrapper(tag);
    else if (isInvoke(tag.name)) this.enterCall(tag);
    else if (!TRANSPARENT.has(tag.name) && !tag.isClose) this.enterParameter(tag);
  }

  private enterResults(): void {
    this.end();
    this.state = 'results';
  }

  private enterWrapper(tag: Tag): void {
    if (this.state === 'json') {
      this.state = 'elements';
      this.calls.endJson();
    }
    const wasCall = this.calls.isOpen;
    this.calls.end();
    if (!tag.isClose) {
      if (!tag.isEmpty) this.wrappers.push(tag.name);
      return;
    }
    if (!wasCall && this.wrappers.at(-1) === tag.name) this.calls.endBareName();
    const index = this.wrappers.lastIndexOf(tag.name);
    this.wrappers.length = index >= 0 ? index : Math.max(0, this.wrappers.length - 1);
    if (this.wrappers.length === 0) this.state = 'closed';
  }

  private enterCall(tag: Tag): void {
    if (!tag.isClose) this.calls.start(tag.attributes.get('name') ?? null);
    if (!tag.isClose && !tag.isEmpty) return;
    this.calls.end();
    if (this.wrappers.length === 0) this.state = 'closed';
  }

  private enterParameter(tag: Tag): void {
    this.open = tag;
    const value = tag.attributes.get('value');
    if (tag.isEmpty) return this.addParameter(tag, value ?? '');
    this.state = 'value';
  }
}
