import { BlockParser } from './block.parser.js';
import { CallBuilder, type RawCall } from './call.builder.js';
import { readOpening, type Opening } from './opening.policy.js';
import { VisibleTextBuilder } from './visible-text.builder.js';

/** A `<` that may begin a tag (or that the text ends with), or a backtick. */
const SIGN = /<(?=[\w/\s|｜]|$)|`/g;
/** What may turn out to be the fence of a block: backticks, a language, space. */
const FENCE = /(`{1,8})([\w-]{0,16})(\s{0,64})/y;

/**
 * Reads a reply in pieces of any size: tells apart what the user may read and what the model calls. Every piece of
 * text is looked at a bounded number of times.
 */
export class ReplyParser {
  readonly calls: RawCall[] = [];
  private readonly visible = new VisibleTextBuilder();
  private text = '';
  private at = 0;
  private block: BlockParser | null = null;
  /** The backticks before the last block, until those after it. */
  private fence = '';
  private isLenient = false;
  private isDone = false;

  /** @returns what the user may read by now */
  push(piece: string): string {
    if (this.isDone) return '';
    this.text = this.text.slice(this.at) + piece;
    this.at = 0;
    this.read(false);
    return this.visible.take();
  }

  /** @returns what was held back and is text after all */
  end(): string {
    this.read(true);
    const reopened = this.block?.reopen() ?? '';
    if (reopened !== '') {
      this.isLenient = true;
      this.text = reopened;
      this.at = 0;
      this.read(true);
    }
    this.block?.end();
    this.visible.end();
    return this.visible.take();
  }

  private read(isFinal: boolean): void {
    while (this.at < this.text.length && !this.isDone) {
      const from = this.at;
      if (this.block) this.readBlock(this.block, isFinal);
      else this.readText(isFinal);
      if (this.at === from) break;
    }
  }

  private readBlock(block: BlockParser, isFinal: boolean): void {
    this.at = block.read(this.text, this.at, isFinal);
    this.closeBlock(block);
  }

  private closeBlock(block: BlockParser): void {
    if (!block.isClosed) return;
    this.isDone = block.hasInvented;
    this.block = null;
  }

  private readText(isFinal: boolean): void {
    SIGN.lastIndex = this.at;
    const index = SIGN.exec(this.text)?.index ?? this.text.length;
    if (index > this.at) this.show(index);
    else if (this.text.charAt(index) === '<') this.readSign(index, false, isFinal);
    else this.readFence(isFinal);
  }

  /** Backticks are markup when they stand around a block and text otherwise. */
  private readFence(isFinal: boolean): void {
    FENCE.lastIndex = this.at;
    const [whole, ticks, language, space] = FENCE.exec(this.text)!;
    const end = this.at + whole.length;
    if (end === this.text.length && !isFinal) return;
    if (this.fence === ticks) {
      this.fence = '';
      this.at += ticks.length;
      return;
    }
    const isInline = ticks!.length < 3 && whole === ticks;
    const isFence = isInline || isFenceStart(ticks!, language!, space!);
    if (isFence && this.text.charAt(end) === '<') this.readSign(end, isInline, isFinal, ticks);
    else this.show(this.at + ticks!.length);
  }

  /** @param ticks the backticks right before it, which are not shown yet */
  private readSign(at: number, isInline: boolean, isFinal: boolean, ticks = ''): void {
    const opening = readOpening(this.text, at, isInline, isFinal);
    switch (opening.kind) {
      case 'wait':
        return;
      case 'text':
        return this.show(opening.end);
      case 'hidden':
        this.visible.addBlock();
        this.at = opening.end;
        return;
      case 'results':
        this.isDone = true;
        this.visible.addBlock();
        return;
      case 'block':
        return this.openBlock(opening, ticks);
    }
  }

  private openBlock({ tag }: Extract<Opening, { kind: 'block' }>, ticks: string): void {
    if (ticks !== '') this.fence = ticks;
    this.visible.addBlock();
    this.at = tag.end;
    this.block = new BlockParser(tag, new CallBuilder(this.calls), this.isLenient);
    this.closeBlock(this.block);
  }

  private show(end: number): void {
    const text = this.text.slice(this.at, end);
    if (this.fence !== '' && text.trim() !== '') this.fence = '';
    this.visible.add(text);
    this.at = end;
  }
}

function isFenceStart(ticks: string, language: string, space: string): boolean {
  return ticks.length >= 3 && (language === '' || space !== '');
}
