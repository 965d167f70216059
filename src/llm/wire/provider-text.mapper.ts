/** The longest a provider's own words may be in a message of ours, in characters. */
const MAX_LENGTH = 500;
/** More than this is not even searched for keys. */
const MAX_READ = 5_000;

/** Makes a provider's own words fit for our messages: keys masked, one line, at most 500 characters. */
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
