const OPEN = /^`{3,8}(?:[\w+#.-]{0,20}[ \t]{0,8}(?:\r?\n|(?=[{[])))?/;
const END = /`{3,8}$/;
/** A fence line, with the text after its backticks; only an opening fence has such text. */
const LINES = /(?:^|\n)[ \t]{0,3}`{3,8}([^`\n]{0,80})(?=\n|$)/g;
/** The single fence line of a text, if it closes an earlier fence. */
const BARE = /^\s{0,100}`{3,8}[ \t\r]{0,8}(?:\n|$)/;

/** The text without the fence or backticks around it, even if only one end of the fence is present. */
export function withoutFences(text: string): string {
  let bare = text.trim();
  if (bare.startsWith('```')) bare = bare.replace(OPEN, '').trimStart();
  if (bare.endsWith('```')) bare = bare.replace(END, '').trimEnd();
  return bare.length > 1 && bare.startsWith('`') && bare.endsWith('`') ? bare.slice(1, -1).trim() : bare;
}

/**
 * The part of a text inside its fence; the whole text if it has none. Text after a fence is ignored.
 * @param isInFence whether a fence was opened before the text
 */
export function fencedPart(text: string, isInFence: boolean): string {
  if (!text.includes('```')) return text;
  const open = ownFence(text, isInFence);
  if (open === null) return isInFence ? upToClose(text) : text;
  const inner = text.trim().slice(open.length);
  return open.endsWith('\n') ? upToClose(inner) : upToLastTicks(inner);
}

/** Whether a fence is open after a text. @param isInFence whether one was opened before it */
export function leavesFenceOpen(text: string, isInFence: boolean): boolean {
  const lines = linesOf(text);
  if (!isInFence) return lines % 2 === 1;
  return lines % 2 === 0 || (lines === 1 && ownFence(text, isInFence) !== null);
}

/** The opening fence at the start of a text; `null` for other text. */
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

/** Cuts a text at its closing fence: nested fences come in pairs, so the last unpaired bare line closes. */
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
