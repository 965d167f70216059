import { isJsonObject, parseJson } from '../kernel/index.js';
import { checked } from './env-value.schema.js';

/** Headers of requests: lower-case names, and their values. */
export type RequestHeaders = Readonly<Record<string, string>>;

const NAME = /^[\w!#$%&'*+.^`|~-]{1,100}$/;
const VALUE = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/;
/** Headers that describe the connection or the body. */
const RESERVED = [
  'accept',
  'accept-encoding',
  'connection',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/** `…_HEADERS`: a JSON object of header names and values. */
export function requestHeaders() {
  return checked(
    parseHeaders,
    `a JSON object of headers, such as {"x-portkey-config": "pc-1"}, each value a text, without ${RESERVED.join(', ')}`,
  );
}

function parseHeaders(text: string): RequestHeaders | undefined {
  const parsed = parseJson(text);
  if (!parsed.ok || !isJsonObject(parsed.value)) return undefined;
  const headers = Object.entries(parsed.value).map(([name, one]) => [name.toLowerCase(), one] as const);
  const isDistinct = new Set(headers.map(([name]) => name)).size === headers.length;
  const isValid = headers.every(
    ([name, one]) => NAME.test(name) && !RESERVED.includes(name) && typeof one === 'string' && VALUE.test(one),
  );
  return isDistinct && isValid ? (Object.fromEntries(headers) as RequestHeaders) : undefined;
}
