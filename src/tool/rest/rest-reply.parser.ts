import { STATUS_CODES } from 'node:http';
import { AppError, parseExactJson, parseJson } from '../../common/index.js';
import type { OutgoingReply } from '../../security/index.js';
import { type JsonPointer, valueAt } from './json-pointer.parser.js';
import type { SecretRedaction } from './secret-text.mapper.js';

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
const HEAD_HEADERS = ['content-type', 'content-length', 'last-modified', 'etag'];

/**
 * Maps a reply to a tool result: JSON at the pointer, text unchanged, an empty body as null; for HEAD the status and some
 * headers. @throws AppError `TOOL_FAILED` with status and start of the body, or with the reason why it is unreadable
 */
export function readReply(reply: OutgoingReply, reading: ReplyReading): unknown {
  const { status, headers, body } = reply;
  if (status < 200 || status > 299) throw statusFailure(reply, reading);
  if (reading.method === 'HEAD') return { status, headers: reading.redaction.value(headOf(headers)) };
  if (body.length === 0) return null;
  const type = mediaType(headers);
  if (isJson(type)) return readJson(reply, reading);
  const text = textOf(reply);
  if (text === undefined) throw failure(reading, `answered with ${type || 'an unknown type'}, which is not text`);
  if (reading.pointer.length > 0) throw failure(reading, `answered with ${type}, and JSON was expected`);
  return reading.redaction.text(text);
}

/** The JSON of a reply; `undefined` for another content type or invalid JSON. */
export function jsonOf(reply: OutgoingReply): unknown {
  const parsed = isJson(mediaType(reply.headers)) ? parseJson(textOf(reply) ?? '', parseExactJson) : undefined;
  return parsed?.ok ? parsed.value : undefined;
}

function readJson(reply: OutgoingReply, reading: ReplyReading): unknown {
  const parsed = parseJson(textOf(reply) ?? '', parseExactJson);
  if (!parsed.ok) {
    throw failure(reading, `answered with invalid JSON (${parsed.fault.kind.replace('_', ' ')})`);
  }
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
  return failure(reading, `answered ${reply.status}${title ? ` ${title}` : ''}${excerpt && `: ${excerpt}`}`);
}

/** Parses JSON before redaction, since escapes may hide a secret. */
function redactedText(reply: OutgoingReply, { redaction }: ReplyReading): string {
  const text = textOf(reply) ?? '';
  const parsed = isJson(mediaType(reply.headers)) ? parseJson(text, parseExactJson) : undefined;
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

function isJson(type: string): boolean {
  return /^application\/(?:[\w.-]+\+)?json$/.test(type) || type === 'text/json';
}

/** The body decoded by its charset; `undefined` for binary content. */
function textOf({ headers, body }: OutgoingReply): string | undefined {
  const type = mediaType(headers);
  const isText =
    type === '' || type.startsWith('text/') || isJson(type) || /^application\/(.*\+)?(xml|x-ndjson|yaml)$/.test(type);
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
