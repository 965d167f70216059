import { MAX_MARKS, ThinkParser } from '../protocol.js';
import { MAX_LABEL, mayBecomeLabel, mayCloseMarks, readLabel, type Label } from './label.parser.js';
import { endOfBlankLines, findLine, isFence, isToolLike, mayBecomeFence, type MarkedLine } from './line.parser.js';
import { SegmentBuilder, type ReplySegments } from './segment.builder.js';
import { VisibleTextBuilder } from './visible-text.builder.js';

/**
 * `start`: only blanks so far; `free`: an answer without a label; `answer`: text after `Final Answer:`; `hidden`: an
 * answer invented beside calls; `segment`: thought, action or input; `done`: the rest is invented.
 */
type Mode = 'start' | 'free' | 'segment' | 'answer' | 'hidden' | 'done';
type Verdict = 'label' | 'text' | 'undecided';

const BARE_FENCE = /^\s*```\s*$/;

/**
 * Parses a reply piece by piece. Only the first characters of a line decide whether it is a label, so that all
 * chunkings give the same result. Each character is scanned only a few times.
 */
export class ReplyParser {
  private readonly segments = new SegmentBuilder();
  private readonly visible = new VisibleTextBuilder();
  private mode: Mode = 'start';
  private out = '';
  /** The undecided start of the current line. */
  private head = '';
  private isInLine = false;
  /** A line of backticks, with blank lines after it, that may be text or a fence around the format. */
  private held = '';
  private isWrapped = false;
  private isInFence = false;
  private readonly think = new ThinkParser();
  /** Lines that were, or resembled, labels or fences. */
  private marks = 0;

  /** @returns the visible text of the piece */
  push(piece: string): string {
    this.read(this.think.push(piece));
    return this.take();
  }

  /** @returns the rest of the visible text */
  end(): string {
    this.read(this.think.end());
    const head = this.head;
    this.head = '';
    if (head !== '') this.readLine(head, true);
    if (this.held !== '' && (this.mode === 'start' || !this.isWrapped)) this.showHeldAnd('');
    this.segments.close();
    this.out += this.visible.end();
    if (!this.visible.hasText && !this.segments.hasCalls) this.out += this.visible.add(this.segments.fallback());
    return this.take();
  }

  /** The thoughts and calls of the reply; complete after `end()`. */
  get found(): ReplySegments {
    return { thoughts: [...this.think.thoughts, ...this.segments.thoughts], calls: this.segments.calls };
  }

  /** Whether all lines up to the next label belong to the format. */
  private get isFormat(): boolean {
    return this.mode === 'segment' || this.mode === 'hidden';
  }

  private read(piece: string): void {
    const whole = piece.lastIndexOf('\n') + 1;
    let at = 0;
    while (at < piece.length && this.mode !== 'done')
      at = this.marks > MAX_MARKS ? this.pass(piece, at) : this.readSome(piece, at, whole);
  }

  private take(): string {
    const { out } = this;
    this.out = '';
    return out;
  }

  /** @param whole index up to which the piece consists of complete lines */
  private readSome(piece: string, at: number, whole: number): number {
    if (this.mode !== 'start' && this.held === '') {
      if (this.isInLine) return this.readLines(piece, at, at, whole);
      if (at > 0 && at < whole) return this.readLines(piece, at - 1, at, whole);
    }
    if (this.isInLine) return this.readRest(piece, at);
    const end = this.head === '' ? endOfBlankLines(piece, at) : at;
    if (end === at) return this.readHead(piece, at);
    this.feed(piece.slice(at, end));
    return end;
  }

  /** Passes the rest on without scanning it. */
  private pass(piece: string, at: number): number {
    this.feed(this.head + piece.slice(at));
    this.head = '';
    return piece.length;
  }

  /** Skips to the next label or fence, which is usually far away. */
  private readLines(piece: string, from: number, at: number, whole: number): number {
    if (at >= whole) {
      this.feed(piece.slice(at));
      return piece.length;
    }
    const line = this.findLine(piece, from, whole);
    const end = line?.start ?? whole;
    this.feed(piece.slice(at, end));
    this.isInLine = false;
    if (!line) return whole;
    if (!line.label) {
      const next = piece.indexOf('\n', end) + 1;
      this.readFence(piece.slice(end, next));
      return next;
    }
    this.begin(line.label);
    this.isInLine = true;
    return line.label.valueStart;
  }

  private findLine(piece: string, from: number, whole: number): MarkedLine | null {
    const kind = this.isFormat ? 'labels' : this.isInFence ? 'fences' : 'both';
    let line = findLine(piece, from, kind);
    while (line?.label && line.start < whole && !this.isMeant(line.label, piece, line.start)) {
      if (++this.marks > MAX_MARKS) return null;
      line = findLine(piece, line.start, kind);
    }
    return line && line.start < whole ? line : null;
  }

  private isMeant(label: Label, piece: string, start: number): boolean {
    if (this.isFormat) return this.segments.accepts(label);
    return this.judge(label, piece, start + MAX_LABEL, true) === 'label';
  }

  private readRest(piece: string, at: number): number {
    const newline = piece.indexOf('\n', at);
    const end = newline < 0 ? piece.length : newline + 1;
    this.feed(piece.slice(at, end));
    this.isInLine = newline < 0;
    return end;
  }

  private readHead(piece: string, at: number): number {
    const room = piece.slice(at, at + MAX_LABEL - this.head.length);
    const newline = room.indexOf('\n');
    const taken = newline < 0 ? room : room.slice(0, newline + 1);
    this.head += taken;
    const isComplete = newline >= 0 || this.head.length >= MAX_LABEL;
    const line = this.head;
    if (this.readLine(line, isComplete)) {
      this.head = '';
      this.isInLine = !line.endsWith('\n');
    }
    return at + taken.length;
  }

  /** @returns false if the start of the line does not decide its kind yet */
  private readLine(line: string, isComplete: boolean): boolean {
    if (this.isFormat) return this.readFormatLine(line, isComplete);
    if (!isComplete && mayBecomeFence(line)) return false;
    if (isFence(line)) return this.readFence(line);
    return this.readTextLine(line, isComplete);
  }

  private readFormatLine(line: string, isComplete: boolean): boolean {
    const label = readLabel(line);
    if (!label && !isComplete && mayBecomeLabel(line)) return false;
    if (!label || !this.segments.accepts(label)) {
      if (label) this.marks++;
      return this.feed(line);
    }
    if (!isComplete && mayCloseMarks(line, label)) return false;
    return this.beginIn(line, label);
  }

  private readTextLine(line: string, isComplete: boolean): boolean {
    if (line.trim() === '') return isComplete && this.feed(line);
    const verdict = this.mayBeLabel() ? this.judgeLine(line, isComplete) : 'text';
    if (verdict === 'undecided') return false;
    if (verdict !== 'text') return this.beginIn(line, verdict);
    this.showHeldAnd(line);
    return true;
  }

  private judgeLine(line: string, isComplete: boolean): Label | 'text' | 'undecided' {
    const label = readLabel(line);
    if (!label) return !isComplete && mayBecomeLabel(line) ? 'undecided' : 'text';
    const verdict = this.judge(label, line, line.length, isComplete);
    if (verdict === 'text') this.marks++;
    return verdict === 'label' ? label : verdict;
  }

  /** Code in an answer holds no labels, but a fence may also enclose the format. */
  private mayBeLabel(): boolean {
    if (!this.isInFence || this.held === '') return !this.isInFence;
    return this.mode !== 'answer' || (this.isWrapped && BARE_FENCE.test(this.held));
  }

  /** @param end end of the line's start that decides */
  private judge(label: Label, text: string, end: number, isComplete: boolean): Verdict {
    if (label.kind === 'input') return 'text';
    if (this.mode !== 'start') {
      if (!label.isStrong || label.isHeading) return 'text';
      if (label.kind === 'action') {
        if (!isComplete) return 'undecided';
        return isToolLike(text.slice(label.valueStart, end)) ? 'label' : 'text';
      }
    }
    return !isComplete && mayCloseMarks(text, label) ? 'undecided' : 'label';
  }

  private readFence(line: string): boolean {
    this.marks++;
    const isEnd = this.isInFence && (this.mode !== 'start' || this.held !== '');
    if (isEnd) this.showHeldAnd(line);
    else this.held = line;
    this.isInFence = !isEnd;
    return true;
  }

  private beginIn(line: string, label: Label): boolean {
    this.begin(label);
    return this.feed(line.slice(label.valueStart));
  }

  private begin(label: Label): void {
    this.marks++;
    if (this.held !== '') this.isWrapped = this.segments.isInFence = true;
    this.held = '';
    this.isInFence = false;
    const { mode } = this;
    const isEnd =
      (mode === 'answer' && this.visible.hasText) ||
      mode === 'hidden' ||
      (mode === 'free' && label.kind === 'observation');
    this.mode = isEnd ? 'done' : this.enter(label);
  }

  private enter({ kind }: Label): Mode {
    if (kind !== 'answer') {
      const isAnswer = this.segments.begin(kind) === 'answer';
      const isEnd = this.segments.hasTooMany || (kind === 'observation' && this.segments.hasCalls);
      if (!isAnswer) return isEnd ? 'done' : 'segment';
      this.visible.beginInput();
    } else this.segments.close();
    this.isWrapped = this.segments.isInFence;
    if (this.segments.hasCalls) return 'hidden';
    this.visible.beginAnswer();
    return 'answer';
  }

  private feed(text: string): boolean {
    if (this.mode === 'segment') this.segments.add(text);
    else if (this.mode === 'start' || this.held !== '') this.feedUndecided(text);
    else if (this.mode === 'free' || this.mode === 'answer') this.out += this.visible.add(text);
    return true;
  }

  /** Blanks do not decide whether held back text is text. */
  private feedUndecided(text: string): void {
    if (text.trim() !== '') this.showHeldAnd(text);
    else if (this.held !== '') this.held += text;
  }

  private showHeldAnd(text: string): void {
    const held = this.held;
    this.held = '';
    if (this.mode === 'start') this.mode = 'free';
    this.feed(held + text);
  }
}
