import { isUtf8 } from 'node:buffer';
import { isBase64, isBase64Url } from './image.parser.js';
import { readImageHead } from './image-head.parser.js';
import { withoutTrailing } from '../json/json.js';

/** Binary content that a text represents. */
export interface BinaryText {
  /** As the text declares it; `undefined` if it declares none. */
  readonly mediaType?: string;
  readonly bytes: Buffer;
  /** The text up to the base64 of the bytes: `data:application/pdf;base64,`; absent for base64 alone. */
  readonly prefix?: string;
}

/** Images that browsers display without executing anything; `mediaTypeOf` checks their bytes. */
export const DISPLAYED_IMAGES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
/** Base64 up to this length is text. */
const MAX_TEXT = 1024;
/** Type, parameters and `;base64` of a data URL (RFC 2397). */
const DATA_URL = /^\s*data:([\w!#$&^.+-]+\/[\w!#$&^.+-]+)?((?:;[^;,\s=]+=(?:"[^"]*"|[^;,\s"]*))*)(\s*;\s*base64)?\s*,/i;
const MEDIA_TYPE = /^[a-z0-9!#$&^_.+-]{1,60}\/[a-z0-9!#$&^_.+-]{1,60}$/;
/** Other names of a type. */
const ALIASES: Readonly<Record<string, string>> = {
  'audio/x-wav': 'audio/wav',
  'audio/wave': 'audio/wav',
  'audio/vnd.wave': 'audio/wav',
  'audio/mp3': 'audio/mpeg',
};
const UNKNOWN = 'application/octet-stream';
const HEAD_BYTES = 16;

/** The content of a `data:` URL, or of a long base64 text whose bytes are no UTF-8 text; `null` for another text. */
export function parseBinaryText(text: string): BinaryText | null {
  const url = parseDataUrl(text);
  if (url || text.length <= MAX_TEXT || isOneLetter(text)) return url;
  const bytes = decodeBase64(text);
  return bytes && isBinary(bytes) ? { bytes } : null;
}

/** The content of a text that must be binary, such as the `data` of a content block; `null` if it is no base64. */
export function parseBinaryField(text: string): BinaryText | null {
  const url = parseDataUrl(text);
  if (url) return url;
  // Senders omit the padding, and break lines anywhere.
  const data = withoutTrailing(text.replace(/\s/g, ''), '=');
  const isValid = data !== '' && data.length % 4 !== 1 && (isBase64(data) || isBase64Url(data));
  return isValid ? { bytes: Buffer.from(data, 'base64') } : null;
}

/** Whether bytes are no readable text. */
export function isBinary(bytes: Uint8Array): boolean {
  return !isUtf8(bytes) || bytes.includes(0);
}

/**
 * The media type of a file. The bytes decide whether it is one of the images that browsers display; for any other
 * content a valid declared type counts.
 */
export function mediaTypeOf(bytes: Uint8Array, declared?: string): string {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const image = readImageHead(head);
  if (image) return image.mediaType;
  const type = (declared ?? '').split(';')[0]!.trim().toLowerCase();
  if (!MEDIA_TYPE.test(type) || DISPLAYED_IMAGES.has(type) || type === UNKNOWN) return knownType(head);
  return ALIASES[type] ?? type;
}

function parseDataUrl(text: string): BinaryText | null {
  const [prefix, type, parameters, base64] = DATA_URL.exec(text.slice(0, MAX_TEXT)) ?? [];
  if (prefix === undefined) return null;
  const rest = text.slice(prefix.length);
  // A text such as "data:, nothing" is no URL.
  if (type === undefined && base64 === undefined && (/\s/.test(rest) || parameters !== '')) return null;
  const mediaType = type ?? 'text/plain';
  const bytes = base64 === undefined ? null : decodeBase64(unescaped(rest));
  if (bytes) return { mediaType, bytes, prefix };
  return { mediaType, bytes: Buffer.from(unescaped(rest)), prefix: `data:${mediaType}${parameters};base64,` };
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Bytes of valid base64 (RFC 4648 4 and 5), in one line or in lines of one length; `null` for another text. */
function decodeBase64(text: string): Buffer | null {
  const lines = /[\r\n]/.test(text) ? text.trim().split(/\r?\n/) : [text.trim()];
  const [{ length } = { length: 0 }] = lines;
  const isEven = lines.every((line, at) => line.length === length || (at === lines.length - 1 && line.length < length));
  if (!isEven) return null;
  const data = lines.length === 1 ? lines[0]! : lines.join('');
  if (data.length % 4 === 0 && isBase64(data)) return Buffer.from(data, 'base64');
  return isForUrls(data) ? Buffer.from(data, 'base64url') : null;
}

/** Long base64 has letters of both cases and digits; words that are joined by hyphens usually lack one of them. */
function isForUrls(data: string): boolean {
  if (data.length % 4 === 1 || !/[_-]/.test(data) || !isBase64Url(data)) return false;
  return /[a-z]/.test(data) && /[A-Z]/.test(data) && /[0-9]/.test(data);
}

/** A line of one letter is no content; only zero bytes are a line of A. */
function isOneLetter(text: string): boolean {
  const [first = ''] = text;
  return /[B-Za-z0-9]/.test(first) && text === first.repeat(text.length);
}

/** Types by their first bytes, for content without a declared type. */
function knownType(bytes: Buffer): string {
  const start = bytes.toString('latin1', 0, HEAD_BYTES);
  if (start.startsWith('%PDF-')) return 'application/pdf';
  if (start.startsWith('PK\x03\x04')) return 'application/zip';
  if (start.startsWith('\x1f\x8b')) return 'application/gzip';
  if (/^RIFF[^]{4}WAVE/.test(start)) return 'audio/wav';
  if (/^ID3|^\xff[\xfb\xf3\xf2]/.test(start)) return 'audio/mpeg';
  if (start.startsWith('OggS')) return 'audio/ogg';
  if (/^[^]{4}ftyp/.test(start)) return 'video/mp4';
  return UNKNOWN;
}
