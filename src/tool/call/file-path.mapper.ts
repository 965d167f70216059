import { homedir, tmpdir } from 'node:os';

/** Replaces the path of a file in a text. */
const HIDDEN = '[path]';
/** Maximum length of the arguments' texts that are searched for paths, in UTF-16 units. */
const MAX_GIVEN = 16 * 1024;

/** Top folders of common systems and images. Paths below others are recognised by the ending of their file name. */
const ROOTS = new Set(
  'app apps bin boot builds dev etc home lib lib64 media mnt nix opt private proc root run sbin snap srv sys tmp usr var work workspace workspaces Applications Library System Users Volumes'.split(
    ' ',
  ),
);

const START = String.raw`(?:file:\/\/|~\/|[A-Za-z]:[\\/]|\\\\(?=\w)|\/(?!\/))`;
/** A path that fills a quoted text; it may contain spaces. */
const QUOTED = new RegExp(String.raw`(?<=(['"\`]))${START}(?:(?!\1)[^\n]){1,4096}(?=\1)`, 'g');
const METHOD = String.raw`\b(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) `;
/** A path up to white space or punctuation that is no part of a URL, of a relative path or of an HTTP request. */
const BARE = new RegExp(
  String.raw`(?<![\w./\\~%-]|${METHOD})${START}[^\s'"\`<>|,;:()[\]{}]{0,4096}[^\s'"\`<>|,;:()[\]{}.!?]`,
  'g',
);

/** Folders of this process; the root folder and a missing one do not count. */
const OWN = [process.cwd(), homeFolder(), tmpdir()].filter((folder) => folder.length > 1);

/**
 * Masks paths of files in an error text for the model: they show where the application is installed. Paths in the
 * call's arguments, and paths below them, stay.
 * @param args arguments of the call
 */
export function maskPaths(text: string, args?: unknown): string {
  if (!/[/\\]/.test(text)) return text;
  const given = textsIn(args);
  const mask = (path: string): string => (isFilePath(path) && !isGiven(path, given) ? HIDDEN : path);
  return text.replace(QUOTED, mask).replace(BARE, mask);
}

function isFilePath(path: string): boolean {
  if (!path.startsWith('/')) return true;
  if (OWN.some((folder) => path === folder || isBelow(path, folder))) return true;
  const segments = path.split('/').filter(Boolean);
  return segments.length > 1 && (ROOTS.has(segments[0]!) || /^[^?#]*[^.?#]\.[A-Za-z]\w{0,9}$/.test(segments.at(-1)!));
}

function isGiven(path: string, given: readonly string[]): boolean {
  return given.some((text) => text.includes(path) || (/[/\\]./.test(text) && isBelow(path, text)));
}

function isBelow(path: string, folder: string): boolean {
  return path.startsWith(folder) && (/[/\\]$/.test(folder) || /^[/\\]/.test(path.slice(folder.length)));
}

/** The texts in arguments, up to a length in all. */
function textsIn(args: unknown): string[] {
  const texts: string[] = [];
  let room = MAX_GIVEN;
  const pending = [args];
  while (pending.length > 0 && room > 0) {
    const value = pending.shift();
    if (typeof value === 'string') {
      texts.push(value.slice(0, room));
      room -= value.length;
    } else if (typeof value === 'object' && value !== null) {
      const inner: unknown[] = Object.values(value);
      room -= inner.length;
      pending.push(...inner.slice(0, Math.max(0, room)));
    }
  }
  return texts;
}

/** Empty for a user id without an entry in `/etc/passwd`, as in a container, if `HOME` is not set. */
function homeFolder(): string {
  try {
    return homedir();
  } catch {
    return '';
  }
}
