import { HEADED, LABELLED, toHeading, toLabel, type Label } from './label.parser.js';

/** A line that starts with a label, or a fence line if `label` is null. */
export interface MarkedLine {
  readonly start: number;
  readonly label: Label | null;
}

const FENCE = /^[ \t]{0,3}```[\w+#.-]{0,20}[ \t\r]{0,8}\n?$/;
const FENCE_START = /^[ \t]{0,3}(?:`{1,3}|```[\w+#.-]{0,20}[ \t\r]{0,8})$/;
/** Starts with a line break, so that one search covers a whole text instead of each line. */
const LABEL_LINE = `\\n(?:${LABELLED}|${HEADED})`;
const FENCE_LINE = String.raw`\n[ \t]{0,3}${'```'}[\w+#.-]{0,20}[ \t\r]{0,8}(?=\n)`;
const LINES = {
  labels: new RegExp(LABEL_LINE, 'gi'),
  fences: new RegExp(FENCE_LINE, 'g'),
  both: new RegExp(`${LABEL_LINE}|${FENCE_LINE}`, 'gi'),
};
const BLANK_LINES = /\s*\n/y;
/** In ordinary text, a line with `Action:` is an action only if a tool name follows. */
const TOOL_LIKE =
  /^[ \t]{0,4}[`"'*[]{0,4}[\w.-]{1,64}[`"'*\]]{0,4}[ \t\r]{0,8}(?:\n|$|[({[]|[,，]?[ \t]{0,4}(?:action[ _]?input|行动输入|动作输入))/i;

/** The first such line after a line break at `from` or later. */
export function findLine(text: string, from: number, kind: keyof typeof LINES): MarkedLine | null {
  const pattern = LINES[kind];
  pattern.lastIndex = from;
  const match = pattern.exec(text);
  return match && { start: match.index + 1, label: labelOf(match) };
}

function labelOf(match: RegExpExecArray): Label | null {
  const [all, , name, , heading] = match;
  if (heading !== undefined) return toHeading(heading, match.index + all.length);
  return name === undefined ? null : toLabel(match);
}

/** @returns the end of the blank lines at `at` */
export function endOfBlankLines(text: string, at: number): number {
  BLANK_LINES.lastIndex = at;
  return BLANK_LINES.test(text) ? BLANK_LINES.lastIndex : at;
}

export function isFence(line: string): boolean {
  return FENCE.test(line);
}

/** Whether a line with this start may still turn out to be a fence. */
export function mayBecomeFence(head: string): boolean {
  return FENCE_START.test(head);
}

/** Whether the text after `Action:` resembles a tool name. */
export function isToolLike(value: string): boolean {
  return TOOL_LIKE.test(value);
}
