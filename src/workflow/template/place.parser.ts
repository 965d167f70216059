/** Path to a value; the first key is a node id, `input`, `item` or `index`. */
export type Path = readonly string[];

const ROOT = /\s*([A-Za-z][\w-]*)/y;
/** A bare key has no operator characters or quotes, so that an expression is an error instead of a missing value. */
const SEGMENT =
  /\s*(?:\.([^.[\]{}"'`|+*/=<>()?!&%,;\\^~\p{Cc}]+)|\[\s*(?:("(?:[^"\\]|\\.)*")|'((?:[^'\\]|\\.)*)'|(\d+))\s*\])/uy;
/** A subtraction, whereas `x-y` is a key. */
const MINUS = /\s-\s/;

/**
 * Parses the text between the braces: `input.text`, `load.result.first name`, `input["a.b"]`, `load.result.list[0]`.
 * @returns `null` if the text is not a valid path
 */
export function parsePlace(text: string): Path | null {
  const [root, path] = [matchAt(ROOT, text, 0), [] as string[]];
  if (!root) return null;
  path.push(root[1]!);
  let end = root[0].length;
  while (text.slice(end).trim() !== '') {
    const segment = matchAt(SEGMENT, text, end);
    const key = segment && keyOf(segment);
    if (!segment || key === null) return null;
    path.push(key);
    end += segment[0].length;
  }
  return path;
}

function keyOf([, bare, json, single, index]: RegExpExecArray): string | null {
  if (bare !== undefined) return bare.trim() === '' || MINUS.test(bare) ? null : bare.trim();
  if (single !== undefined) return single.replaceAll(/\\(.)/gs, '$1');
  return json === undefined ? index! : parsed(json);
}

function parsed(json: string): string | null {
  try {
    return JSON.parse(json) as string;
  } catch {
    return null;
  }
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
