const OPEN = /^`{3,8}(?:[\w+#.-]{0,20}[ \t]{0,8}(?:\r?\n|(?=[{[])))?/;
const END = /`{3,8}$/;
/** A line of a fence; what it says behind the backticks, which only one that opens has. */
const LINES = /(?:^|\n)[ \t]{0,3}`{3,8}([^`\n]{0,80})(?=\n|$)/g;
/** The one line of a fence that closes the other one. */
const BARE = /^\s{0,100}`{3,8}[ \t\r]{0,8}(?:\n|$)/;

/** The text without the fence or the backticks around it, even if only one end of the fence is there. */
export function withoutFences(text: string): string {
  let bare = text.trim();
  if (bare.startsWith('```')) bare = bare.replace(OPEN, '').trimStart();
  if (bare.endsWith('```')) bare = bare.replace(END, '').trimEnd();
  return bare.length > 1 && bare.startsWith('`') && bare.endsWith('`') ? bare.slice(1, -1).trim() : bare;
}

/**
 * The part of a text that stands in a fence, all of it when it stands in none: what a model says behind one is not meant.
 * @param isInFence whether a fence was opened before the text
 */
export function fencedPart(text: string, isInFence: boolean): string {
  if (!text.includes('```')) return text;
  const open = ownFence(text, isInFence);
  if (open === null) return isInFence ? upToClose(text) : text;
  const inner = text.trim().slice(open.length);
  return open.endsWith('\n') ? upToClose(inner) : upToLastTicks(inner);
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
  const isOther = open !== undefined && isInFence && BARE.test(text) && linesOf(text) === 1;
  return open === undefined || isOther ? null : open;
}

function linesOf(text: string): number {
  if (!text.includes('```')) return 0;
  let count = 0;
  LINES.lastIndex = 0;
  while (LINES.test(text)) count++;
  return count;
}

/** Lines before it come in pairs, of code in the code: the last bare one that makes no pair closes. */
function upToClose(text: string): string {
  let end = text.length;
  let isPaired = true;
  LINES.lastIndex = 0;
  for (let match = LINES.exec(text); match; match = LINES.exec(text)) {
    if (isPaired && match[1]!.trim() === '') end = match.index;
    isPaired = !isPaired;
  }
  return text.slice(0, end);
}

function upToLastTicks(text: string): string {
  const end = text.lastIndexOf('```');
  return end < 0 ? text : text.slice(0, end);
}
