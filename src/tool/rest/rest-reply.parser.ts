import { STATUS_CODES } from 'node:http';
import { AppError, parseExactJson, parseJson } from '../../common/index.js';
import type { OutgoingReply } from '../../security/index.js';
import { type JsonPointer, valueAt } from './json-pointer.parser.js';
import type { SecretRedaction } from './secret-text.mapper.js';

/** How a tool reads replies. */
export interface ReplyReading {
  /** Whose they are, for errors. */
  readonly host: string;
  readonly method: string;
  readonly pointer: JsonPointer;
  readonly redaction: SecretRedaction;
}

const MAX_EXCERPT_CHARACTERS = 500;
const MAX_LISTED_NAMES = 20;
const HEAD_HEADERS = ['content-type', 'content-length', 'last-modified', 'etag'];

/**
 * What a reply is for the model: JSON by the pointer, text as it is, nothing as null; of HEAD its status and what it says
 * of the thing. @throws AppError `TOOL_FAILED` that says the status and how the body begins, or what cannot be read
 */
export function readReply(reply: OutgoingReply, reading: ReplyReading): unknown {
  const { status, headers, body } = reply;
  if (status < 200 || status > 299) throw statusFailure(reply, reading);
  if (reading.method === 'HEAD') return { status, headers: reading.redaction.value(headOf(headers)) };
  if (body.length === 0) return null;
  const type = mediaType(headers);
  if (isJson(type)) return readJson(reply, reading);
  const text = textOf(reply);
  if (text === undefined) throw failure(reading, `answered with ${type || 'something'}, which is no text`);
  if (reading.pointer.length > 0) throw failure(reading, `answered with ${type}, and JSON was expected`);
  return reading.redaction.text(text);
}

/** A reply as JSON; undefined for one that is none. */
export function jsonOf(reply: OutgoingReply): unknown {
  const parsed = isJson(mediaType(reply.headers)) ? parseJson(textOf(reply) ?? '', parseExactJson) : undefined;
  return parsed?.ok ? parsed.value : undefined;
}

function readJson(reply: OutgoingReply, reading: ReplyReading): unknown {
  const parsed = parseJson(textOf(reply) ?? '', parseExactJson);
  if (!parsed.ok) {
    throw failure(reading, `says that it answers JSON, and it cannot be read (${parsed.fault.kind.replace('_', ' ')})`);
  }
  const part = valueAt(parsed.value, reading.pointer);
  if (part !== undefined) return reading.redaction.value(part);
  const place = `/${reading.pointer.join('/')}`;
  throw failure(reading, `answered without ${place}, where the result is expected${namesIn(parsed.value, reading)}`);
}

function statusFailure(reply: OutgoingReply, reading: ReplyReading): AppError {
  const title = STATUS_CODES[reply.status];
  // Before it is cut, so that no part of a secret stays.
  const said = saidIn(reply, reading).replaceAll(/\s+/g, ' ').trim();
  const excerpt = said.length > MAX_EXCERPT_CHARACTERS ? `${said.slice(0, MAX_EXCERPT_CHARACTERS)}…` : said;
  return failure(reading, `answered ${reply.status}${title ? ` ${title}` : ''}${excerpt && `: ${excerpt}`}`);
}

/** JSON is read first: escapes may hide what is to be taken out. */
function saidIn(reply: OutgoingReply, { redaction }: ReplyReading): string {
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

/** The body as text, by its charset; undefined for what is none. */
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
    // A charset that nobody knows.
    return undefined;
  }
}
