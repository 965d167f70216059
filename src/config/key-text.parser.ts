const PAIR = /^(["'`])[^]*\1$/;
const END = /^["'`]|["'`]$/;

/** Whether a value is in quotes. */
export function isQuoted(text: string): boolean {
  return text.length > 1 && PAIR.test(text);
}

/** Whether a key or a URL has a quote at one of its ends, where neither can have one; of a list, any of its parts. */
export function hasQuote(text: string): boolean {
  return text.split(',').some((part) => END.test(part.trim()));
}

/** Keys as a variable or a file has them: comma-separated, or one a line; each once. */
export function parseKeys(text: string): string[] {
  return [...new Set(text.split(/[\s,]+/).filter((key) => key !== ''))];
}
