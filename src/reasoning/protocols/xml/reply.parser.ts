import { MAX_MARKS, ThinkParser } from '../protocol.js';
import { BlockParser } from './block.parser.js';
import { CallBuilder, type RawCall } from './call.builder.js';
import { readOpening, type Opening } from './opening.policy.js';
import { indexOfMark, mayBeTagOf, namesOf } from './tag.parser.js';
import { VisibleTextBuilder } from './visible-text.builder.js';

/** A possible fence of a block: backticks, a language, space. */
const FENCE = /(`{1,8})([\w-]{0,16})(\s{0,64})/y;
const OUTER_TAG = mayBeTagOf(namesOf('wrapper', 'invoke', 'results'));
/** Possible start of a block, with or without a fence before it. */
const SIGN = new RegExp(`${OUTER_TAG}|\`(?=\`{8}|\`{0,7}[\\w-]{0,16}\\s{0,64}(?:${OUTER_TAG}|$))`, 'gi');
/** After a block in a fence any backticks may close the fence. */
const SIGN_AFTER_FENCE = new RegExp(`${OUTER_TAG}|\``, 'gi');

/** Unclosed reasoning that ends with calls. */
const CALLS_LAST = new RegExp(`</(?:${namesOf('wrapper', 'invoke').join('|')})>$`, 'i');

/** A longer unfinished tag is scanned again only after it has grown by `GROWTH`, not with every piece. */
const LONG = 128;
const GROWTH = 1.5;

/**
 * Parses a reply in pieces of any size into visible text and calls. Every piece of text is scanned a bounded number of
 * times.
 */
export class ReplyParser {
  private readonly builder = new CallBuilder();
  private readonly visible = new VisibleTextBuilder();
  private readonly think = new ThinkParser();
  private text = '';
  /** Index up to which the text was read. */
  private at = 0;
  /** Index up to which the text was shown or discarded. */
  private used = 0;
  /** Text length from which another scan is worthwhile. */
  private enough = 0;
  private block: BlockParser | null = null;
  /** The opening backticks of the last block's fence, until the closing ones. */
  private fence = '';
  private isLenient = false;
  private calledInThought: readonly RawCall[] = [];
  private isDone = false;
  /** Possible tags that were text, and those that were markup. */
  private texts = 0;
  private markups = 0;

  /** @returns the newly visible text */
  push(piece: string): string {
    if (this.isDone) return '';
    this.setText(this.text.slice(this.used) + this.think.push(piece));
    if (this.text.length < this.enough) return '';
    this.read(false);
    const held = this.text.length - this.used;
    this.enough = held < LONG ? 0 : held * GROWTH;
    return this.visible.take();
  }

  /** @returns held back text that was not markup */
  end(): string {
    this.setText(this.text.slice(this.used) + this.think.end());
    this.read(true);
    const reopened = this.block?.reopen() ?? '';
    if (reopened !== '') {
      this.isLenient = true;
      this.setText(reopened);
      this.read(true);
    }
    this.block?.end();
    this.visible.end();
    this.calledInThought = callsAtEnd(this.think.unclosed);
    return this.visible.take();
  }

  get calls(): readonly RawCall[] {
    return this.calledInThought.length > 0 ? this.calledInThought : this.builder.found;
  }

  get thoughts(): readonly string[] {
    return this.think.thoughts;
  }

  private setText(text: string): void {
    this.text = text;
    this.at = 0;
    this.used = 0;
  }

  private read(isFinal: boolean): void {
    let isContinued = true;
    while (isContinued && this.at < this.text.length && !this.isDone)
      isContinued = this.block ? this.readBlock(this.block, isFinal) : this.readText(isFinal);
    if (!this.isDone) this.show();
  }

  private readBlock(block: BlockParser, isFinal: boolean): boolean {
    const from = this.at;
    this.at = block.read(this.text, from, isFinal);
    this.used = this.at;
    this.closeBlock(block);
    return this.at > from;
  }

  private closeBlock(block: BlockParser): void {
    if (!block.isClosed) return;
    this.isDone = block.isLast;
    this.block = null;
  }

  /** @returns false if more text is needed to decide */
  private readText(isFinal: boolean): boolean {
    if (this.texts > MAX_MARKS) {
      this.passTo(this.text.length);
      return true;
    }
    const sign = this.fence === '' ? SIGN : SIGN_AFTER_FENCE;
    this.passTo(indexOfMark(sign, this.text, this.at));
    if (this.at === this.text.length) return true;
    return this.text.charAt(this.at) === '<' ? this.readSign(this.at, false, isFinal) : this.readFence(isFinal);
  }

  /** Backticks around a block are markup, others are text. */
  private readFence(isFinal: boolean): boolean {
    FENCE.lastIndex = this.at;
    const [whole, ticks, language, space] = FENCE.exec(this.text) as unknown as [string, string, string, string];
    const end = this.at + whole.length;
    if (end === this.text.length && !isFinal) return false;
    if (this.fence === ticks) {
      this.show();
      this.fence = '';
      this.skipTo(this.at + ticks.length);
      return true;
    }
    const isInline = ticks.length < 3 && whole === ticks;
    const isFence = isInline || isFenceStart(ticks, language, space);
    if (isFence && this.text.charAt(end) === '<') return this.readSign(end, isInline, isFinal, ticks);
    return this.passSign(this.at + ticks.length);
  }

  /** @param ticks the backticks directly before it, which are not consumed yet */
  private readSign(at: number, isInline: boolean, isFinal: boolean, ticks = ''): boolean {
    const opening = readOpening(this.text, at, isInline, isFinal);
    switch (opening.kind) {
      case 'wait':
        return false;
      case 'text':
        return this.passSign(opening.end);
      case 'hidden':
        this.show();
        this.visible.addBlock();
        this.skipTo(opening.end);
        this.countMarkup();
        return true;
      case 'results':
        this.show();
        this.visible.addBlock();
        this.isDone = true;
        return true;
      case 'block':
        this.openBlock(opening, ticks);
        return true;
    }
  }

  private openBlock({ tag }: Extract<Opening, { kind: 'block' }>, ticks: string): void {
    this.show();
    if (ticks !== '') this.fence = ticks;
    this.visible.addBlock();
    this.skipTo(tag.end);
    this.block = new BlockParser(tag, this.builder, this.isLenient);
    this.closeBlock(this.block);
    this.countMarkup();
  }

  private countMarkup(): void {
    if (++this.markups > MAX_MARKS) this.isDone = true;
  }

  private passSign(end: number): true {
    this.texts++;
    this.passTo(end);
    return true;
  }

  /** Passed text is visible; `show` adds it with the text that follows. */
  private passTo(end: number): void {
    if (this.fence !== '' && this.text.slice(this.at, end).trim() !== '') this.fence = '';
    this.at = end;
  }

  private skipTo(end: number): void {
    this.at = end;
    this.used = end;
  }

  private show(): void {
    if (this.at > this.used) this.visible.add(this.text.slice(this.used, this.at));
    this.used = this.at;
  }
}

function isFenceStart(ticks: string, language: string, space: string): boolean {
  return ticks.length >= 3 && (language === '' || space !== '');
}

/** Some models start calls without closing their reasoning. In closed reasoning nothing is a call. */
function callsAtEnd(unclosed: string): readonly RawCall[] {
  if (!CALLS_LAST.test(unclosed)) return [];
  const parser = new ReplyParser();
  parser.push(unclosed);
  parser.end();
  return parser.calls;
}
