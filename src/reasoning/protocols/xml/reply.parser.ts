import { MAX_MARKS } from '../call-limit.policy.js';
import { ThinkParser } from '../think.parser.js';
import { BlockParser } from './block.parser.js';
import { CallBuilder, type RawCall } from './call.builder.js';
import { readOpening, type Opening } from './opening.policy.js';
import { namesOf } from './tag-name.policy.js';
import { indexOfMark, mayBeTagOf } from './tag.parser.js';
import { VisibleTextBuilder } from './visible-text.builder.js';

/** What may turn out to be the fence of a block: backticks, a language, space. */
const FENCE = /(`{1,8})([\w-]{0,16})(\s{0,64})/y;
const OUTER_TAG = mayBeTagOf(namesOf('wrapper', 'invoke', 'results'));
/** Where a block may begin, with a fence before it or without. */
const SIGN = new RegExp(`${OUTER_TAG}|\`(?=\`{8}|\`{0,7}[\\w-]{0,16}\\s{0,64}(?:${OUTER_TAG}|$))`, 'gi');
/** After a block in a fence any backticks may close it. */
const SIGN_AFTER_FENCE = new RegExp(`${OUTER_TAG}|\``, 'gi');

/** A thought that was not ended, but by calls. */
const CALLS_LAST = new RegExp(`</(?:${namesOf('wrapper', 'invoke').join('|')})>$`, 'i');

/** A tag that is longer and still has no end is not read again with every piece, but when it has grown so much. */
const LONG = 128;
const GROWTH = 1.5;

/**
 * Reads a reply in pieces of any size: tells apart what the user may read and what the model calls. Every piece of
 * text is looked at a bounded number of times.
 */
export class ReplyParser {
  private readonly builder = new CallBuilder();
  private readonly visible = new VisibleTextBuilder();
  private readonly think = new ThinkParser();
  private text = '';
  /** Up to where the text was read. */
  private at = 0;
  /** Up to where it was shown, or is none to be shown. */
  private used = 0;
  /** How much text is worth another look. */
  private enough = 0;
  private block: BlockParser | null = null;
  /** The backticks before the last block, until those after it. */
  private fence = '';
  private isLenient = false;
  private calledInThought: readonly RawCall[] = [];
  private isDone = false;
  /** How many signs turned out to be text, and how many to be markup. */
  private texts = 0;
  private markups = 0;

  /** @returns what the user may read by now */
  push(piece: string): string {
    if (this.isDone) return '';
    this.setText(this.text.slice(this.used) + this.think.push(piece));
    if (this.text.length < this.enough) return '';
    this.read(false);
    const held = this.text.length - this.used;
    this.enough = held < LONG ? 0 : held * GROWTH;
    return this.visible.take();
  }

  /** @returns what was held back and is text after all */
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
    let goesOn = true;
    while (goesOn && this.at < this.text.length && !this.isDone)
      goesOn = this.block ? this.readBlock(this.block, isFinal) : this.readText(isFinal);
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

  /** @returns false when more text has to decide */
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

  /** Backticks are markup when they stand around a block and text otherwise. */
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

  /** @param ticks the backticks right before it, which are not passed yet */
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

  /** What is passed is text, to be shown with what follows. */
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

/** Some models begin to call without ending their thought first. Of one that was ended nothing is meant as a call. */
function callsAtEnd(unclosed: string): readonly RawCall[] {
  if (!CALLS_LAST.test(unclosed)) return [];
  const parser = new ReplyParser();
  parser.push(unclosed);
  parser.end();
  return parser.calls;
}
