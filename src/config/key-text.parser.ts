const PAIR = /^(["'`])[^]*\1$/;
const END = /^["'`]|["'`]$/;

/** Whether a value is quoted. */
export function isQuoted(text: string): boolean {
  return text.length > 1 && PAIR.test(text);
}

/** Whether a key or a URL, or an element of a list, has a quote at one end, where it can never have one. */
export function hasQuote(text: string): boolean {
  return text.split(',').some((part) => END.test(part.trim()));
}

/** Parses keys of a variable or a file: separated by commas or line breaks, without duplicates. */
export function parseKeys(text: string): string[] {
  return [...new Set(text.split(/[\s,]+/).filter((key) => key !== ''))];
}
