import { MAX_LABEL, mayBecomeLabel, mayCloseMarks, readLabel, type Label } from './label.parser.js';
import { SegmentBuilder, type ReplySegments } from './segment.builder.js';
import { VisibleTextBuilder } from './visible-text.builder.js';

/**
 * `start`: nothing but blanks yet; `free`: an answer without a label; `answer`: behind `Final Answer:`; `hidden`: an
 * answer invented beside calls; `segment`: thought, action or input; `think`: a `<think>` block; `done`: the rest is invented.
 */
type Mode = 'start' | 'think' | 'free' | 'segment' | 'answer' | 'hidden' | 'done';
type Verdict = 'label' | 'text' | 'undecided';

const FENCE = /^[ \t]{0,3}```[\w-]{0,20}[ \t\r]{0,8}\n?$/;
const FENCE_BEGUN = /^[ \t]{0,3}(?:`{1,3}|```[\w-]{0,20}[ \t\r]{0,8})$/;
const THINK = /^[ \t]{0,8}<think(?:ing)?>/;
const THINK_BEGUN = /^[ \t]{0,8}<(?:t(?:h(?:i(?:n(?:k(?:i(?:n(?:g)?)?)?)?)?)?)?)?$/;
const THINK_END = /<\/think(?:ing)?>/;
const LONGEST_THINK_END = '</thinking>'.length;
/** In an ordinary text only the name of a tool makes an action of a line that begins with `Action:`. */
const TOOL_LIKE =
  /^[ \t]{0,4}[`"'*[]{0,4}[\w.-]{1,64}[`"'*\]]{0,4}[ \t\r]{0,8}(?:\n|$|[({[]|[,，]?[ \t]{0,4}(?:action[ _]?input|行动输入|动作输入))/i;

/**
 * Reads a reply of a model piece by piece. Whether a line is a label is decided by its first characters alone, so that
 * any chunking gives the same, and no character is looked at more than a few times.
 */
export class ReplyParser {
  private readonly segments = new SegmentBuilder();
  private readonly visible = new VisibleTextBuilder();
  private mode: Mode = 'start';
  private out: string[] = [];
  /** The undecided beginning of the current line. */
  private head = '';
  private isInLine = false;
  /** A line of backticks (and blank lines after it) that may belong to the text or only wrap the format. */
  private held = '';
  private isWrapped = false;
  private isInFence = false;
  private thinkTail = '';

  /** @returns what of the piece the user may read */
  push(piece: string): string {
    let at = 0;
    while (at < piece.length && this.mode !== 'done') at = this.readSome(piece, at);
    return this.take();
  }

  /** @returns the rest of what the user may read */
  end(): string {
    const head = this.head;
    this.head = '';
    if (head !== '') this.readLine(head, true);
    this.segments.add(this.thinkTail);
    if (this.held !== '' && (this.mode === 'start' || !this.isWrapped)) this.show(this.held);
    if (this.mode === 'think') this.segments.closeThought();
    else this.segments.close();
    this.out.push(this.visible.end());
    if (!this.visible.hasText && !this.segments.hasCalls) this.out.push(this.visible.add(this.segments.fallback()));
    return this.take();
  }

  /** What was found besides the text; complete after `end()`. */
  get found(): ReplySegments {
    return this.segments;
  }

  private take(): string {
    const text = this.out.join('');
    this.out = [];
    return text;
  }

  private readSome(piece: string, at: number): number {
    if (this.mode === 'think') return this.readThink(piece, at);
    if (this.isInLine) return this.readRest(piece, at);
    if (this.head === '' && piece.charCodeAt(at) === 10) return this.readBlankLines(piece, at);
    return this.readHead(piece, at);
  }

  private readRest(piece: string, at: number): number {
    const newline = piece.indexOf('\n', at);
    const end = newline < 0 ? piece.length : newline + 1;
    this.feed(piece.slice(at, end));
    this.isInLine = newline < 0;
    return end;
  }

  private readBlankLines(piece: string, at: number): number {
    let end = at + 1;
    while (piece.charCodeAt(end) === 10) end++;
    this.feedBlank(piece.slice(at, end));
    return end;
  }

  private readHead(piece: string, at: number): number {
    const room = piece.slice(at, at + MAX_LABEL - this.head.length);
    const newline = room.indexOf('\n');
    const taken = newline < 0 ? room : room.slice(0, newline + 1);
    const known = this.head.length;
    this.head += taken;
    const think = this.mode === 'start' ? THINK.exec(this.head) : null;
    if (think) {
      this.head = '';
      this.mode = 'think';
      this.segments.begin('thought');
      return at + think[0].length - known;
    }
    const isComplete = newline >= 0 || this.head.length >= MAX_LABEL;
    const line = this.head;
    if (this.readLine(line, isComplete)) {
      this.head = '';
      this.isInLine = !line.endsWith('\n');
    }
    return at + taken.length;
  }

  private readThink(piece: string, at: number): number {
    const text = this.thinkTail + piece.slice(at);
    const match = THINK_END.exec(text);
    if (!match) {
      const kept = text.slice(-LONGEST_THINK_END);
      this.segments.add(text.slice(0, text.length - kept.length));
      this.thinkTail = kept;
      return piece.length;
    }
    this.segments.add(text.slice(0, match.index));
    this.segments.closeThought();
    const end = at + match.index + match[0].length - this.thinkTail.length;
    this.thinkTail = '';
    this.mode = 'start';
    this.isInLine = false;
    return end;
  }

  /** @returns false when the line's beginning does not say yet what it is */
  private readLine(line: string, isComplete: boolean): boolean {
    if (this.mode === 'segment' || this.mode === 'hidden') return this.readFormatLine(line, isComplete);
    if (this.mode === 'start' && !isComplete && THINK_BEGUN.test(line)) return false;
    if (!isComplete && FENCE_BEGUN.test(line)) return false;
    if (FENCE.test(line)) return this.readFence(line);
    return this.readTextLine(line, isComplete);
  }

  private readFormatLine(line: string, isComplete: boolean): boolean {
    const label = readLabel(line);
    if (!label && !isComplete && mayBecomeLabel(line)) return false;
    if (!label || !this.segments.accepts(label)) return this.feed(line);
    if (!isComplete && mayCloseMarks(line, label)) return false;
    return this.begin(label, line);
  }

  private readTextLine(line: string, isComplete: boolean): boolean {
    if (line.trim() === '') return isComplete && this.feedBlank(line);
    const verdict = this.mayBeLabel() ? this.judgeLine(line, isComplete) : 'text';
    if (verdict === 'undecided') return false;
    if (verdict !== 'text') return this.begin(verdict, line);
    this.showHeldAnd(line);
    return true;
  }

  private judgeLine(line: string, isComplete: boolean): Label | 'text' | 'undecided' {
    const label = readLabel(line);
    if (!label) return !isComplete && mayBecomeLabel(line) ? 'undecided' : 'text';
    const verdict = this.judge(label, line, isComplete);
    return verdict === 'label' ? label : verdict;
  }

  /** Code in an answer holds no labels, but a fence may also stand around the format. */
  private mayBeLabel(): boolean {
    return !this.isInFence || (this.held !== '' && (this.mode !== 'answer' || this.isWrapped));
  }

  private judge(label: Label, line: string, isComplete: boolean): Verdict {
    if (label.kind === 'input') return 'text';
    if (this.mode !== 'start') {
      if (!label.isStrong) return 'text';
      if (label.kind === 'action') {
        if (!isComplete) return 'undecided';
        return TOOL_LIKE.test(line.slice(label.valueStart)) ? 'label' : 'text';
      }
    }
    return !isComplete && mayCloseMarks(line, label) ? 'undecided' : 'label';
  }

  private readFence(line: string): boolean {
    if (this.mode === 'start' && this.held === '') {
      this.held = line;
      this.isInFence = true;
    } else if (this.isInFence) {
      this.showHeldAnd(line);
      this.isInFence = false;
    } else {
      this.held = line;
      this.isInFence = true;
    }
    return true;
  }

  private begin(label: Label, line: string): boolean {
    if (this.held !== '') this.isWrapped = true;
    this.held = '';
    this.isInFence = false;
    const { mode } = this;
    const isEnd =
      (mode === 'answer' && this.visible.hasText) ||
      mode === 'hidden' ||
      (mode === 'free' && label.kind === 'observation');
    this.mode = isEnd ? 'done' : this.enter(label);
    return this.feed(line.slice(label.valueStart));
  }

  private enter({ kind }: Label): Mode {
    if (kind !== 'answer') {
      const isAnswer = this.segments.begin(kind) === 'answer';
      if (!isAnswer) return kind === 'observation' && this.segments.hasCalls ? 'done' : 'segment';
      this.visible.beginInput();
    } else this.segments.close();
    if (this.segments.hasCalls) return 'hidden';
    this.visible.beginAnswer();
    return 'answer';
  }

  private feed(text: string): boolean {
    if (this.mode === 'segment') this.segments.add(text);
    else if (this.mode === 'start' && text.trim() !== '') this.showHeldAnd(text);
    else if (this.mode === 'free' || this.mode === 'answer') this.out.push(this.visible.add(text));
    return true;
  }

  private feedBlank(text: string): boolean {
    if (this.held !== '') this.held += text;
    else if (this.mode !== 'start') this.feed(text);
    return true;
  }

  private showHeldAnd(text: string): void {
    const held = this.held;
    this.held = '';
    this.show(held + text);
  }

  private show(text: string): void {
    if (this.mode === 'start') this.mode = 'free';
    this.feed(text);
  }
}
