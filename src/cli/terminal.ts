import { createInterface } from 'node:readline/promises';
import { text } from 'node:stream/consumers';
import { styleText } from 'node:util';
import type { Interrupt } from './interrupt.js';

type Style = Parameters<typeof styleText>[0];

export interface Column {
  readonly title: string;
  readonly align?: 'right';
}

/** Width of a terminal that does not report it. */
const DEFAULT_WIDTH = 100;
const GAP = '  ';
/** Least width of a shortened column. */
const LEAST = 8;
/** Control characters and marks of direction: with them a text could imitate or hide output. */
const UNSAFE = /(?![\n\t])[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
/** Characters of two cells. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/gu;

/** The output for people and programs. Texts of models and tools cannot control the terminal. */
export class Terminal {
  /** Whether the current line of standard output has text. */
  private hasLine = false;

  constructor(
    private readonly interrupt: Interrupt,
    private readonly isJson: boolean,
  ) {}

  /** Whether a person can answer questions. */
  get isPerson(): boolean {
    return !this.isJson && process.stdin.isTTY && process.stderr.isTTY;
  }

  /** Writes text without an end of line. */
  write(content: string): void {
    if (content === '') return;
    process.stdout.write(printable(content));
    this.hasLine = !content.endsWith('\n');
  }

  line(content = '', style?: Style): void {
    this.endLine();
    const safe = printable(content);
    process.stdout.write(`${style === undefined ? safe : styled(style, safe, process.stdout)}\n`);
  }

  /** Ends a line that `write` has started. */
  endLine(): void {
    if (this.hasLine) process.stdout.write('\n');
    this.hasLine = false;
  }

  /** A line for people, on standard error. */
  note(content: string, style: Style = 'dim'): void {
    if (process.stdout.isTTY) this.endLine();
    process.stderr.write(`${styled(style, printable(content), process.stderr)}\n`);
  }

  json(value: unknown): void {
    process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
  }

  /** A line of JSON, for streams. */
  jsonLine(value: unknown): void {
    process.stdout.write(`${JSON.stringify(value)}\n`);
  }

  /** Aligned columns. On a terminal the last one is shortened to its width, then the widest ones. */
  table(columns: readonly Column[], rows: readonly (readonly string[])[]): void {
    const cells = [columns.map(({ title }) => title), ...rows].map((row) => row.map(cellOf));
    const widths = columns.map((_, at) => Math.max(...cells.map((row) => widthOf(row[at] ?? ''))));
    if (process.stdout.isTTY) shrink(widths, process.stdout.columns || DEFAULT_WIDTH);
    for (const [at, row] of cells.entries()) {
      const parts = row.map((cell, column) => fit(cell, widths[column]!, columns[column]!.align === 'right'));
      this.line(parts.join(GAP).trimEnd(), at === 0 ? 'bold' : undefined);
    }
  }

  /** One line for each member that has a value. */
  fields(members: Readonly<Record<string, string | null | undefined>>): void {
    const found = Object.entries(members).filter(([, value]) => value != null && value !== '');
    const width = Math.max(...found.map(([name]) => name.length));
    for (const [name, value] of found) this.line(`${name.padEnd(width)}${GAP}${value}`);
  }

  /**
   * Asks a person for a line. @returns undefined at the end of the input (Ctrl+D)
   * @throws the reason of the interrupt after Ctrl+C
   */
  async ask(question: string): Promise<string | undefined> {
    if (process.stdout.isTTY) this.endLine();
    const lines = createInterface({ input: process.stdin, output: process.stderr });
    const closed = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)));
    lines.once('SIGINT', () => this.interrupt.trigger());
    const { signal } = this.interrupt;
    try {
      const answer = await Promise.race([lines.question(printable(question), { signal }), closed]);
      if (answer === undefined) process.stderr.write('\n');
      return answer;
    } catch (error) {
      process.stderr.write('\n');
      throw error;
    } finally {
      lines.close();
    }
  }

  /** The whole standard input. */
  input(): Promise<string> {
    return text(process.stdin);
  }
}

/** The text without control characters and marks of direction, except line ends and tabs. */
export function printable(content: string): string {
  return content.replaceAll(UNSAFE, '\u{fffd}');
}

/** Local time in ISO 8601, with its offset; empty without a time. @param ms epoch ms */
export function localTime(ms: number | null | undefined): string {
  if (ms == null) return '';
  const date = new Date(ms);
  const offset = -date.getTimezoneOffset();
  const local = new Date(ms + offset * 60_000).toISOString().slice(0, 19);
  return `${local}${offset < 0 ? '-' : '+'}${two(offset / 60)}:${two(offset % 60)}`;
}

function two(value: number): string {
  return String(Math.trunc(Math.abs(value))).padStart(2, '0');
}

function styled(style: Style, content: string, stream: NodeJS.WriteStream): string {
  // It follows NO_COLOR, and adds nothing to an output that is no terminal.
  return styleText(style, content, { stream });
}

function cellOf(content: string): string {
  return printable(content).replaceAll(/\s/g, ' ');
}

function pointsOf(content: string): string[] {
  return Array.from(content);
}

function widthOf(content: string): number {
  return pointsOf(content).length + (content.match(WIDE)?.length ?? 0);
}

function fit(content: string, width: number, isRight: boolean): string {
  let shown = content;
  if (widthOf(content) > width) {
    const points = pointsOf(content);
    while (widthOf(points.join('')) > width - 1) points.pop();
    shown = `${points.join('')}…`;
  }
  const space = ' '.repeat(Math.max(0, width - widthOf(shown)));
  return isRight ? space + shown : shown + space;
}

/** Reduces the widths until their sum fits: of the last column first, then of the widest one. */
function shrink(widths: number[], most: number): void {
  const excess = () => widths.reduce((sum, width) => sum + width, GAP.length * (widths.length - 1)) - most;
  const last = widths.length - 1;
  widths[last] = Math.max(Math.min(widths[last]!, LEAST), widths[last]! - Math.max(0, excess()));
  while (excess() > 0) {
    const widest = widths.indexOf(Math.max(...widths));
    if (widths[widest]! <= LEAST) return;
    widths[widest]!--;
  }
}
