import { MAX_MARKS } from '../protocol.js';
import type { CallBuilder } from './call.builder.js';
import {
  indexOfMark,
  isOuter,
  MAY_BE_TAG,
  mayBeEndOf,
  mayBeTagOf,
  namesOf,
  readTag,
  type Tag,
  type TagKind,
} from './tag.parser.js';

type State = 'elements' | 'json' | 'value' | 'cdata' | 'closed' | 'results';

type ValueEnd = Tag | 'partial' | 'none' | 'cdata' | 'end';

const OUTER_NAMES = namesOf('wrapper', 'invoke', 'results');
/** Possible ends of text, by the state of the block. */
const MARKS = {
  elements: new RegExp(MAY_BE_TAG, 'g'),
  nothing: new RegExp(`${MAY_BE_TAG}|[{[]`, 'g'),
  json: new RegExp(mayBeTagOf(namesOf('wrapper', 'results')), 'gi'),
  tooMany: new RegExp(mayBeTagOf(OUTER_NAMES), 'gi'),
};
const MAY_BE_CDATA = String.raw`<(?=!\[CDATA\[|!\[?C?D?A?T?A?$)`;
/** Possible ends of a value, and starts of CDATA in it, keyed by tag or by first letter. */
const VALUE_MARKS = new Map(
  ['parameter', ...Array.from('abcdefghijklmnopqrstuvwxyz_')].map((start) => {
    const name = start.length === 1 ? String.raw`${start}[\w.-]*` : start;
    const strict = new RegExp(`${mayBeEndOf([name])}|${MAY_BE_CDATA}`, 'gi');
    const lenient = new RegExp(mayBeTagOf([...OUTER_NAMES, 'parameter', name]), 'gi');
    return [start, { strict, lenient }];
  }),
);
/** Deeper wrappers are not tracked. */
const MAX_WRAPPERS = 100;
const CDATA = '<![CDATA[';
const CDATA_END = ']]>';

/** Parses one block of calls, in pieces; the caller need not repeat text before the index that `read` returns. */
export class BlockParser {
  private state: State = 'elements';
  private readonly wrappers: string[] = [];
  /** The tag of the current value, and the value so far. */
  private open: Tag | null = null;
  private value = '';
  /** Number of scanned possible tags. */
  private looks = 0;

  /** @param isLenient whether a value also ends at the end of its call; set after a value without an end */
  constructor(
    first: Tag,
    private readonly calls: CallBuilder,
    private isLenient: boolean,
  ) {
    calls.startBlock();
    this.enter(first);
  }

  get isClosed(): boolean {
    return this.state === 'closed' || this.isLast;
  }

  /**
   * Whether the rest of the reply is ignored: the block ended with results, which a model may not write, or there are
   * too many calls or tags.
   */
  get isLast(): boolean {
    return this.state === 'results' || this.calls.hasTooManyCalls;
  }

  /** @returns index up to which the text was consumed */
  read(text: string, from: number, isFinal: boolean): number {
    let at = from;
    while (at < text.length && !this.isClosed) {
      const next = this.step(text, at, isFinal);
      if (next === at) break;
      at = next;
    }
    return at;
  }

  /** Reopens a value that the end of the reply left open. @returns its text, to be parsed again leniently */
  reopen(): string {
    if (this.isLenient || (this.state !== 'value' && this.state !== 'cdata')) return '';
    const text = this.value;
    this.isLenient = true;
    this.state = 'value';
    this.value = '';
    return text;
  }

  /** Ends all open elements. */
  end(): void {
    if (this.state === 'value' || this.state === 'cdata') this.closeValue();
    if (this.state === 'json') this.calls.endJson();
    this.calls.end();
    if (!this.isClosed) this.state = 'closed';
  }

  private step(text: string, at: number, isFinal: boolean): number {
    if (this.state === 'cdata') return this.readCdata(text, at, isFinal);
    if (this.state === 'value') return this.readValue(text, at, isFinal);
    const index = indexOfMark(this.mark, text, at);
    if (index > at) return this.keep(text, at, index);
    return text.charAt(at) === '<' ? this.readElement(text, at, isFinal) : this.readBracket(text, at);
  }

  /** Pattern of the possible ends of text. */
  private get mark(): RegExp {
    if (this.state === 'json') return MARKS.json;
    if (this.calls.hasTooManyParameters) return MARKS.tooMany;
    return this.mayBeJson ? MARKS.nothing : MARKS.elements;
  }

  /** Whether a bracket here starts JSON in place of calls. */
  private get mayBeJson(): boolean {
    return this.state === 'elements' && !this.calls.isOpen && !this.calls.hasLooseText;
  }

  private readBracket(text: string, at: number): number {
    if (this.mayBeJson) this.state = 'json';
    return this.keep(text, at, at + 1);
  }

  private readElement(text: string, at: number, isFinal: boolean): number {
    const tag = readTag(text, at, this.accepts);
    if (tag === 'partial') return isFinal ? text.length : at;
    if (++this.looks > MAX_MARKS) return this.giveUp(text);
    if (tag === 'none') return this.keep(text, at, at + 1);
    this.enter(tag);
    return tag.end;
  }

  /** Ignores the rest of the reply. */
  private giveUp(text: string): number {
    this.enterResults();
    return text.length;
  }

  private readValue(text: string, at: number, isFinal: boolean): number {
    const { name } = this.open!;
    const marks = VALUE_MARKS.get(name) ?? VALUE_MARKS.get(name.charAt(0))!;
    const mark = this.isLenient ? marks.lenient : marks.strict;
    let index = indexOfMark(mark, text, at);
    let end = this.readValueEnd(text, index);
    while (end === 'none') {
      index = indexOfMark(mark, text, index + 1);
      end = this.readValueEnd(text, index);
    }
    this.keep(text, at, index);
    if (end === 'end') return index;
    if (end === 'cdata') return this.readCdataStart(text, index, isFinal);
    if (end === 'partial') return this.readCutTag(text, index, isFinal);
    if (++this.looks > MAX_MARKS) return this.giveUp(text);
    this.closeValue();
    if (end.name !== name || !end.isClose) this.enter(end);
    return end.end;
  }

  private readValueEnd(text: string, at: number): ValueEnd {
    if (at >= text.length) return 'end';
    if (!this.isLenient && text.startsWith('<!', at)) return 'cdata';
    const tag = readTag(text, at, this.accepts);
    return typeof tag === 'string' || this.isLenient || tag.isClose ? tag : 'none';
  }

  /** An end tag truncated by the end of the reply still ends its value. */
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
    if (from === to) return to;
    const piece = text.slice(from, to);
    if (this.state === 'value' || this.state === 'cdata') this.value += piece;
    else this.calls.addText(piece);
    return to;
  }

  private readonly accepts = (kind: TagKind, name: string): boolean => {
    if (this.state === 'value') return name === this.open!.name || (this.isLenient && endsCall(kind, name));
    if (this.state === 'json') return kind === 'wrapper' || kind === 'results';
    if (this.calls.hasTooManyParameters) return isOuter(kind);
    return kind !== 'parameter' || !this.calls.isJsonBody;
  };

  private closeValue(): void {
    this.state = 'elements';
    this.addParameter(this.open!, this.value);
    this.value = '';
  }

  private addParameter({ name: element, attributes }: Tag, text: string): void {
    const string = attributes.get('string')?.toLowerCase();
    const name = element === 'parameter' ? (attributes.get('name') ?? '') : element;
    this.calls.add(element, string === undefined ? { name, text } : { name, text, string });
  }

  private enter(tag: Tag): void {
    switch (tag.kind) {
      case 'results':
        return this.enterResults();
      case 'wrapper':
        return this.enterWrapper(tag);
      case 'invoke':
        return this.enterCall(tag);
      case 'parameter':
        return tag.isClose ? undefined : this.enterParameter(tag);
      case 'transparent':
        return;
    }
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
      if (!tag.isEmpty && this.wrappers.length < MAX_WRAPPERS) this.wrappers.push(tag.name);
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
    if (this.calls.hasTooManyParameters) return;
    this.open = tag;
    const value = tag.attributes.get('value');
    if (tag.isEmpty) return this.addParameter(tag, value ?? '');
    this.state = 'value';
  }
}

function endsCall(kind: TagKind, name: string): boolean {
  return isOuter(kind) || name === 'parameter';
}
