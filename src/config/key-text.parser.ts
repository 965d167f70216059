/** Keys as a variable or a file has them: comma-separated, or one a line; each once. */
export function parseKeys(text: string): string[] {
  return [...new Set(text.split(/[\s,]+/).filter((key) => key !== ''))];
}
