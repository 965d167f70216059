const NONE = new Set(['', 'null']);

/**
 * The JSON text of a call's arguments, at least `{}`. Models and servers also send an object, nothing, `null`, or JSON
 * inside a JSON string. Other text is returned unchanged, even if it is not JSON.
 */
export function toArgumentsText(sent: unknown): string {
  const text = typeof sent === 'string' ? decodedOnce(sent) : JSON.stringify(sent ?? {});
  return NONE.has(text.trim()) ? '{}' : text;
}

/** The text inside a JSON string, if it is an object or nothing. */
function decodedOnce(text: string): string {
  if (!text.trimStart().startsWith('"')) return text;
  try {
    const inner = String(JSON.parse(text)).trim();
    return inner.startsWith('{') || NONE.has(inner) ? inner : text;
  } catch {
    return text;
  }
}
