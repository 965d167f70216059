/** Maximum length of a provider's message in our errors, in UTF-16 units. */
const MAX_LENGTH = 500;
/** Maximum length to process, in UTF-16 units; the rest is cut off first. */
const MAX_READ = 5_000;

/** Sanitises a provider's message: keys masked, one line, at most 500 characters. */
export function quoteProvider(said: string, apiKey?: string): string {
  let text = said.slice(0, MAX_READ);
  if (apiKey) text = text.replaceAll(apiKey, '***');
  text = text
    .replace(/\bsk-[\w*.-]+/g, 'sk-***')
    .replace(/\bBearer\s[^\s"',;]+/gi, 'Bearer ***')
    .replace(/\s+/g, ' ')
    .trim();
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH - 1)}…` : text;
}
