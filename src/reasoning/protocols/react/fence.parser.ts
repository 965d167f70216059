const OPEN = /^```(?:[\w-]{0,20}[ \t]{0,8}(?:\r?\n|(?=[{[ ])))?/;
const CLOSE = /(?:^|\n)[ \t]{0,3}```[ \t\r]{0,8}(?=\n|$)/;
const CLOSE_IN_LINE = /```/;
/** The one line of a fence that closes the other one. */
const BARE = /^\s{0,100}```[ \t\r]{0,8}(?:\n|$)/;
const LINES = /(?:^|\n)[ \t]{0,3}```[\w-]{0,20}[ \t\r]{0,8}(?=\n|$)/g;

/** The text without the fence or the backticks around it, even if only one end of the fence is there. */
export function withoutFences(text: string): string {
  let bare = text.trim();
  if (bare.startsWith('```')) bare = bare.replace(OPEN, '').trimStart();
  if (bare.endsWith('```')) bare = bare.slice(0, -3).trimEnd();
  return bare.length > 1 && bare.startsWith('`') && bare.endsWith('`') ? bare.slice(1, -1).trim() : bare;
}

/**
 * The part of a text that stands in a fence, all of it when it stands in none: what a model says behind one is not meant.
 * @param isInFence whether a fence was opened before the text
 */
export function fencedPart(text: string, isInFence: boolean): string {
  const open = ownFence(text, isInFence);
  if (open === null) return isInFence ? upTo(CLOSE, text) : text;
  return upTo(open.endsWith('\n') ? CLOSE : CLOSE_IN_LINE, text.trim().slice(open.length));
}

/** Whether a fence is open behind a text. @param isInFence whether one was opened before it */
export function leavesFenceOpen(text: string, isInFence: boolean): boolean {
  const lines = linesOf(text);
  if (!isInFence) return lines % 2 === 1;
  return lines % 2 === 0 || (lines === 1 && ownFence(text, isInFence) !== null);
}

/** How the fence begins that a text begins with; `null` when it is no beginning. */
function ownFence(text: string, isInFence: boolean): string | null {
  if (!text.includes('```')) return null;
  const [open] = OPEN.exec(text.trim()) ?? [];
  const isOther = isInFence && linesOf(text) === 1 && BARE.test(text);
  return open === undefined || isOther ? null : open;
}

function linesOf(text: string): number {
  return text.includes('```') ? (text.match(LINES)?.length ?? 0) : 0;
}

function upTo(end: RegExp, text: string): string {
  const match = end.exec(text);
  return match ? text.slice(0, match.index) : text;
}
