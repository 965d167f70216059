import { type ImageHead, type PixelSize, readImageHead } from './image-head.parser.js';

/**
 * Whether a text is base64 of RFC 4648, section 4, or empty; white space and the length are not checked.
 *
 * Both functions search for another character. In a process with much compiled code V8 compiles regular expressions
 * without optimization, and then `^[…]+$` stores every position: it throws a RangeError from 4.2 million characters.
 */
export function isBase64(text: string): boolean {
  return !/[^A-Za-z0-9+/]/.test(withoutEnd(text));
}

/** Whether a text is base64 of RFC 4648, section 5 (the URL alphabet), or empty. */
export function isBase64Url(text: string): boolean {
  return !/[^A-Za-z0-9_-]/.test(withoutEnd(text));
}

/** @returns the text without up to two characters of padding */
function withoutEnd(text: string): string {
  return text.endsWith('==') ? text.slice(0, -2) : text.endsWith('=') ? text.slice(0, -1) : text;
}

/** An image of a request, a tool or a session. */
export type ParsedImage =
  | { readonly kind: 'url'; readonly url: string }
  | {
      readonly kind: 'data';
      /** The data URI with the media type of its bytes, in standard base64. */
      readonly url: string;
      readonly mediaType: ImageHead['mediaType'];
      /** Base64. */
      readonly data: string;
      /** Of the image, decoded. */
      readonly bytes: number;
      /** Undefined when the bytes end before it. */
      readonly size?: PixelSize;
    };

/** The number of images that every provider accepts in one request. */
export const MAX_IMAGES = 20;

const MAX_URL = 2048;
/** Base64 characters that hold the pixel size of nearly every image. */
const HEAD_LENGTH = 8192;

/**
 * Reads an image given as an https URL or as a data URI. The bytes decide the media type: a wrong or missing label is
 * corrected, and so are capitals, white space, percent escapes and the URL alphabet of base64.
 * @returns an error text for other input
 */
export function parseImage(url: string): ParsedImage | string {
  return /^\s*data:/i.test(url) ? parseData(url) : parseUrl(url);
}

/** The bytes of an image that is data; 0 for a link. @param url a URL that `parseImage` accepts */
export function imageBytes(url: string): number {
  return url.startsWith('data:') ? base64Bytes(url, url.indexOf(',') + 1) : 0;
}

function parseData(url: string): ParsedImage | string {
  const comma = url.indexOf(',');
  const label = url.slice(url.indexOf(':') + 1, comma);
  if (comma < 0 || !/;\s*base64\s*$/i.test(label)) {
    return 'it must be base64, as in data:image/png;base64,… (or jpeg, gif, webp)';
  }
  const data = standardBase64(url, comma + 1);
  if (data === null) return 'it must have whole base64 after its comma';
  const head = headOf(data);
  if (!head) return 'its bytes must be a PNG, JPEG, GIF or WebP image, whatever its label: convert it to one of these';
  const start = `data:${head.mediaType};base64,`;
  const isStandard = url.length === start.length + data.length && url.startsWith(start) && url.endsWith(data);
  return { kind: 'data', url: isStandard ? url : start + data, ...head, data, bytes: base64Bytes(data, 0) };
}

/** @param from index of the first base64 character */
function standardBase64(url: string, from: number): string | null {
  const data = url.slice(from);
  if (data.length % 4 === 0 && data !== '' && isBase64(data)) return data;
  const cleaned = data
    .replace(/%[0-9a-f]{2}/gi, (escape) => String.fromCharCode(Number.parseInt(escape.slice(1), 16)))
    .replace(/\s/g, '')
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .replace(/={1,2}$/, '');
  if (cleaned.length % 4 === 1 || !/[^=]$/.test(cleaned) || !isBase64(cleaned)) return null;
  return cleaned.padEnd(Math.ceil(cleaned.length / 4) * 4, '=');
}

function headOf(data: string): ImageHead | null {
  const head = readImageHead(Buffer.from(data.slice(0, HEAD_LENGTH), 'base64'));
  if (!head || head.size || data.length <= HEAD_LENGTH) return head;
  return readImageHead(Buffer.from(data, 'base64'));
}

/** @param from index of the first base64 character */
function base64Bytes(text: string, from: number): number {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return ((text.length - from) / 4) * 3 - padding;
}

function parseUrl(text: string): ParsedImage | string {
  const url = URL.parse(text);
  if (url?.protocol !== 'https:') return 'it must be an https:// URL, or a data URI';
  if (url.username !== '' || url.password !== '') return 'it must not contain a user or password';
  return text.length > MAX_URL ? `it must have at most ${MAX_URL} characters` : { kind: 'url', url: text };
}
