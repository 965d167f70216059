import { checked } from './env-value.schema.js';

const NAME = /^[\w!#$%&'*+.^`|~-]{1,100}$/;
/** No control characters: a value may become a header. */
const VALUE = /^[^\p{Cc}]*$/u;

/**
 * Names and percent-encoded values, comma-separated, as OpenTelemetry's variables have them (the format of W3C Baggage).
 * @param allowed a description of the pairs with an example, for the message
 */
export function otlpPairs(allowed: string) {
  return checked(parsePairs, `${allowed}: name=value, comma-separated`);
}

function parsePairs(text: string): Readonly<Record<string, string>> | undefined {
  const pairs: [string, string][] = [];
  for (const part of text.split(',')) {
    if (part.trim() === '') continue;
    const at = part.indexOf('=');
    const name = part.slice(0, Math.max(at, 0)).trim();
    const value = decoded(part.slice(at + 1).trim());
    if (!NAME.test(name) || value === undefined || !VALUE.test(value)) return undefined;
    pairs.push([name, value]);
  }
  return Object.fromEntries(pairs);
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
