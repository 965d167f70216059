import { type JsonPointer, valueAt } from './json-pointer.parser.js';
import { STATUS_CODES } from 'node:http';
import { AppError, loadPackage, Log } from '../errors/index.js';
import { describeJsonFault, parseExactJson, parseJson } from '../kernel/json/index.js';
import { isBinary } from '../kernel/media/index.js';
import type { OutgoingReply, SecretRedaction } from '../security/egress/index.js';
import { type ShownResult, TypedBytes } from '../tool/result/index.js';
import { isJsonType } from './header.policy.js';

/** Settings for reading the replies of a tool. */
export interface ReplyReading {
  /** Host of the reply, for error messages. */
  readonly host: string;
  readonly method: string;
  readonly pointer: JsonPointer;
  readonly redaction: SecretRedaction;
}

const MAX_EXCERPT_CHARACTERS = 500;
const MAX_LISTED_NAMES = 20;
/** Headers that a caller needs: pages, positions, versions and limits. */
const SHOWN_HEADERS = /^(?:link|location|etag|retry-after|(?:x-)?rate-?limit(?:-.*)?)$/;
const MAX_HEADER_CHARACTERS = 1000;
/**
 * The conversion of HTML blocks the process, and its time grows with the square of open tags and with the levels of lists:
 * at most about 50 ms within these limits, for hostile HTML.
 */
const MAX_HTML_CHARACTERS = 50_000;
const MAX_HTML_LEVELS = 64;
/** Maximum characters that are searched for the text of a page. */
const MAX_PAGE_CHARACTERS = 1_000_000;
/** Parts without text. An open one ends with the page, so that the search takes linear time. */
const TEXTLESS_HTML = /<!--[^]*?(?:-->|$)|<(script|style|svg)(?=[\s/>])[^]*?(?:<\/\1\s*>|$)/gi;
const HEADINGS = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'];
const HEAD_HEADERS = ['content-type', 'content-length', 'last-modified', 'etag'];

/**
 * Maps a reply to a tool result: JSON at the pointer, text unchanged, another body as a file, an empty body as null; for
 * HEAD the status and some headers. @throws AppError `TOOL_FAILED` with status and start of the body, or with the reason why it is unreadable
 */
export function readReply(reply: OutgoingReply, reading: ReplyReading): unknown {
  const { status, headers, body } = reply;
  if (status < 200 || status > 299) throw statusFailure(reply, reading);
  if (reading.method === 'HEAD') return { status, headers: reading.redaction.value(headOf(headers)) };
  if (body.length === 0) return null;
  const type = mediaType(headers);
  if (isJsonType(type)) return readJson(reply, reading);
  const text = textOf(reply);
  if (reading.pointer.length > 0) throw failure(reading, `answered with ${type || 'no type'}, and JSON was expected`);
  if (text === undefined) return new TypedBytes(redactedBytes(reply.body, reading), type, true);
  return reading.redaction.text(text);
}

/**
 * Text for the model beside the value: a line with the headers that a caller needs, and HTML as plain text.
 * @param value the result of `readReply`
 */
export async function shownOf(
  reply: OutgoingReply,
  value: unknown,
  reading: ReplyReading,
): Promise<ShownResult['shown']> {
  const headers = reading.method === 'HEAD' ? '' : headerLine(reply, reading);
  const isHtml = /^(text\/html|application\/xhtml\+xml)$/.test(mediaType(reply.headers));
  return {
    ...(headers !== '' && { note: `[${headers}]` }),
    ...(isHtml && typeof value === 'string' && (await htmlText(value))),
  };
}

/** `link: …; etag: …`; empty without such headers. */
function headerLine({ headers }: OutgoingReply, { redaction }: ReplyReading): string {
  const named = Object.entries(headers).filter(([name]) => SHOWN_HEADERS.test(name));
  const line = redaction.text(named.map(([name, value]) => `${name}: ${value}`).join('; '));
  return line.length > MAX_HEADER_CHARACTERS ? `${line.slice(0, MAX_HEADER_CHARACTERS)}…` : line;
}

/** HTML as plain text; none without the optional peer, as the call itself succeeded. */
async function htmlText(html: string): Promise<{ readonly text?: string }> {
  try {
    const { convert } = await loadPackage('html-to-text', 'HTML as plain text', () => import('html-to-text'));
    return { text: toText(html, convert) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    new Log('RestTool').warn(error.message);
    return {};
  }
}

function toText(html: string, convert: (typeof import('html-to-text'))['convert']): string {
  const page = html.slice(0, MAX_PAGE_CHARACTERS).replaceAll(TEXTLESS_HTML, '');
  return convert(page.slice(0, MAX_HTML_CHARACTERS), {
    wordwrap: false,
    limits: { maxDepth: MAX_HTML_LEVELS },
    selectors: [
      { selector: 'img', format: 'skip' },
      // Its usual format repeats a prefix per level and line, and is slow.
      { selector: 'blockquote', format: 'block' },
      ...HEADINGS.map((selector) => ({ selector, options: { uppercase: false } })),
    ],
  });
}

/** The JSON of a reply; `undefined` for another content type or invalid JSON. */
export function jsonOf(reply: OutgoingReply): unknown {
  const parsed = isJsonType(mediaType(reply.headers)) ? parseJson(textOf(reply) ?? '', parseExactJson) : undefined;
  return parsed?.ok ? parsed.value : undefined;
}

function readJson(reply: OutgoingReply, reading: ReplyReading): unknown {
  const text = textOf(reply) ?? '';
  const parsed = parseJson(text, parseExactJson);
  if (!parsed.ok) throw failure(reading, `answered with invalid JSON (${describeJsonFault(parsed.fault, text)})`);
  const part = valueAt(parsed.value, reading.pointer);
  if (part !== undefined) return reading.redaction.value(part);
  const place = `/${reading.pointer.join('/')}`;
  throw failure(reading, `answered without ${place}, where the result is expected${namesIn(parsed.value, reading)}`);
}

function statusFailure(reply: OutgoingReply, reading: ReplyReading): AppError {
  const title = STATUS_CODES[reply.status];
  // Redact before truncating, so that no part of a secret remains.
  const text = redactedText(reply, reading).replaceAll(/\s+/g, ' ').trim();
  const excerpt = text.length > MAX_EXCERPT_CHARACTERS ? `${text.slice(0, MAX_EXCERPT_CHARACTERS)}…` : text;
  const headers = headerLine(reply, reading);
  const status = `${reply.status}${title ? ` ${title}` : ''}${headers && ` [${headers}]`}`;
  return failure(reading, `answered ${status}${excerpt && `: ${excerpt}`}`);
}

/** Text of an unknown type may repeat a credential. */
function redactedBytes(body: Buffer, { redaction }: ReplyReading): Buffer {
  return isBinary(body) ? body : Buffer.from(redaction.text(body.toString()));
}

/** Parses JSON before redaction, since escapes may hide a secret. */
function redactedText(reply: OutgoingReply, { redaction }: ReplyReading): string {
  const text = textOf(reply) ?? '';
  const parsed = isJsonType(mediaType(reply.headers)) ? parseJson(text, parseExactJson) : undefined;
  return parsed?.ok ? JSON.stringify(redaction.value(parsed.value)) : redaction.text(text);
}

function failure({ host }: ReplyReading, what: string): AppError {
  return new AppError('TOOL_FAILED', `${host} ${what}${/[.!?…}\]]$/.test(what) ? '' : '.'}`);
}

function namesIn(value: unknown, { redaction }: ReplyReading): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return '';
  const names = Object.keys(value).slice(0, MAX_LISTED_NAMES);
  return names.length > 0 ? `; it has ${redaction.text(names.join(', '))}` : '';
}

function headOf(headers: OutgoingReply['headers']): Record<string, string> {
  return Object.fromEntries(
    HEAD_HEADERS.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])),
  );
}

function mediaType(headers: OutgoingReply['headers']): string {
  return (headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase();
}

/** The body decoded by its charset; `undefined` for binary content. */
function textOf({ headers, body }: OutgoingReply): string | undefined {
  const type = mediaType(headers);
  const isText =
    type === '' ||
    type.startsWith('text/') ||
    isJsonType(type) ||
    /^application\/(.*\+)?(xml|x-ndjson|yaml)$/.test(type);
  if (!isText) return undefined;
  const [, charset = 'utf-8'] = /;\s*charset="?([^\s";]+)/i.exec(headers['content-type'] ?? '') ?? [];
  try {
    const text = new TextDecoder(charset).decode(body);
    return text.includes('\u0000') ? undefined : text;
  } catch {
    // Unknown charset.
    return undefined;
  }
}
