import { randomUUID } from 'node:crypto';
import type { RunFile } from '../../run/files/index.js';
import { unwritable, wholeText } from '../argument-text.mapper.js';
import { isJsonType } from '../header.policy.js';
import type { Pair } from '../request-template.parser.js';
import type { FileSource } from '../rest-request.builder.js';
import { encodeSegment } from '../url-template.parser.js';
import type { MappedBody } from './openapi-body.mapper.js';
import { serializationOf } from './openapi-parameter.mapper.js';
import { isNode, type Node } from './openapi.types.js';
import { type Encode, isComposite, toPairs } from './parameter-style.mapper.js';

/**
 * Reserved characters that a query may contain as they are. OpenAPI 3.2 leaves out `#`, `[` and `]`, which a query cannot
 * contain, and `&` and `+`, which mean something else in it.
 */
const IN_QUERY = /%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B|3D)/g;
/** The same for a path; `/`, `?` and `#` would change its structure. */
const IN_PATH = /%(?:3A|40|21|24|26|27|28|29|2A|2B|2C|3B|3D)/g;

/** Percent-encodes a text of a query. */
export const queryText: Encode = (text, name) => encodeURIComponent(wholeText(text, name));

/** With `allowReserved`: percent-encoded triples stay as they are too. */
export const reservedQueryText: Encode = (text, name) =>
  queryText(text, name)
    .replaceAll(IN_QUERY, decodeURIComponent)
    .replaceAll(/%25([0-9A-F]{2})/gi, '%$1');

/** Percent-encodes a text of a path. @throws AppError `TOOL_INVALID_ARGUMENTS` for a text that would change the path */
export const pathText: Encode = encodeSegment;

/** With `allowReserved`. */
export const reservedPathText: Encode = (text, name) => {
  if (/[/?#]/.test(text)) throw unwritable(`an argument of the URL, "${name}", contains "/", "?" or "#"`);
  return encodeSegment(text, name).replaceAll(IN_PATH, decodeURIComponent);
};

/** A text of a form (`application/x-www-form-urlencoded`). */
export const formText: Encode = (text, name) => queryText(text, name).replaceAll('%20', '+');

export interface EncodedBody {
  readonly contentType: string;
  readonly body: string | Buffer;
}

/** A part of a multipart body. */
interface Part {
  readonly name: string;
  readonly content: string | Buffer;
  readonly type?: string;
  readonly fileName?: string;
}

/** Maximum size of all files of a request, in bytes. */
const MAX_FILE_BYTES = 10 * 1024 * 1024;

/**
 * @param source of files; none outside of a run
 * @throws AppError `TOOL_INVALID_ARGUMENTS` for a value that the media type cannot contain, and for an unknown file
 */
export async function encodeBody(
  value: unknown,
  { kind, contentType, encoding, files }: MappedBody,
  source: FileSource | undefined,
): Promise<EncodedBody> {
  const sent = new SentFiles(source);
  switch (kind) {
    case 'json':
      return { contentType, body: JSON.stringify(value) };
    case 'text':
      return { contentType, body: wholeText(String(value), 'body') };
    case 'form': {
      const pairs = fieldsOf(value).flatMap(([name, field]) => formPairs(name, field, encodingOf(encoding, name)));
      return { contentType, body: pairs.map((pair) => pair.join('=')).join('&') };
    }
    case 'multipart': {
      const boundary = randomUUID();
      const parts: Part[] = [];
      for (const [name, field] of fieldsOf(value)) {
        const own = encodingOf(encoding, name);
        const isText = !files.has(name) || typeof [field].flat()[0] === 'string';
        parts.push(...(isText ? partsOf(name, field, own) : await filePartsOf(name, field, own, sent)));
      }
      const pieces = parts.flatMap((part) => [`--${boundary}\r\n${headOf(part)}\r\n\r\n`, part.content, '\r\n']);
      return {
        contentType: `multipart/form-data; boundary=${boundary}`,
        body: Buffer.concat([...pieces, `--${boundary}--\r\n`].map((piece) => Buffer.from(piece as string))),
      };
    }
    case 'bytes': {
      const { mediaType, bytes } = await sent.read(value, 'body');
      return { contentType: contentType.includes('*') ? mediaType : contentType, body: bytes };
    }
  }
}

function fieldsOf(body: unknown): readonly (readonly [name: string, value: unknown])[] {
  if (isNode(body)) return Object.entries(body).filter(([, value]) => (value ?? null) !== null);
  throw unwritable('a form body must be an object');
}

function encodingOf(encoding: Node, name: string): Node {
  const own = Object.hasOwn(encoding, name) ? encoding[name] : undefined;
  return isNode(own) ? own : {};
}

/**
 * Fields of one property: by `style`, `explode` and `allowReserved` if one of them is given, else each member as text
 * or, if it is a list or an object, as JSON (OpenAPI 3.1.1, "Encoding Usage and Restrictions").
 */
function formPairs(name: string, value: unknown, encoding: Node): readonly Pair[] {
  const encode = encoding['allowReserved'] === true ? reservedQueryText : formText;
  if (['style', 'explode', 'allowReserved'].some((key) => key in encoding)) {
    return toPairs(name, value, serializationOf(encoding, 'form'), encode);
  }
  return membersOf(value, encoding).map((text): Pair => [encode(name, name), encode(text, name)]);
}

function partsOf(name: string, value: unknown, encoding: Node): readonly Part[] {
  const type = oneType(encoding);
  const isJson = !Array.isArray(value) ? isComposite(value) : value.some(isComposite);
  const given = type ?? (isJson ? 'application/json' : undefined);
  return membersOf(value, encoding).map((text) => ({
    name,
    content: wholeText(text, name),
    ...(given !== undefined && { type: given }),
  }));
}

/** The texts of a property: of each member of a list, unless the whole list is JSON. */
function membersOf(value: unknown, { contentType }: Node): readonly string[] {
  const isJson = typeof contentType === 'string' && isJsonType(contentType);
  const members: readonly unknown[] = Array.isArray(value) && !isJson ? value : [value];
  return members.map((member) => (isComposite(member) || isJson ? JSON.stringify(member) : String(member)));
}

/** The type of a part, if the document gives exactly one. */
function oneType({ contentType }: Node): string | undefined {
  return typeof contentType === 'string' && !/[,*]/.test(contentType) ? contentType : undefined;
}

async function filePartsOf(name: string, value: unknown, encoding: Node, sent: SentFiles): Promise<readonly Part[]> {
  const parts: Part[] = [];
  for (const n of [value].flat()) {
    const file = await sent.read(n, `body.${name}`);
    parts.push({ name, content: file.bytes, type: oneType(encoding) ?? file.mediaType, fileName: fileNameOf(file) });
  }
  return parts;
}

/** The files of one request. */
class SentFiles {
  private bytes = 0;

  constructor(private readonly source: FileSource | undefined) {}

  /** @param argument path of the argument, for error messages */
  async read(n: unknown, argument: string): Promise<RunFile> {
    const file = await this.source?.find(Number(n));
    if (!file) {
      const known =
        'name a file that a tool result of this run, or of an earlier turn that you see, shows as "[file n: …]"';
      throw unwritable(`there is no file ${String(n)} for the argument "${argument}"; ${known}`);
    }
    this.bytes += file.bytes.length;
    if (this.bytes <= MAX_FILE_BYTES) return file;
    throw unwritable(`the files of a request may have ${MAX_FILE_BYTES.toLocaleString('en')} bytes together`);
  }
}

/** The last part of the name or address that the tool gave. */
function fileNameOf({ n, name = '', mediaType }: RunFile): string {
  const own = name.split(/[?#]/)[0]!.split(/[/\\]/).at(-1)!;
  const [, ending] = /\/(?:x-)?([a-z\d]{2,5})$/.exec(mediaType) ?? [];
  return own === '' ? `file-${n}${ending === undefined ? '' : `.${ending}`}` : own;
}

/** Names are escaped as browsers escape them (HTML Standard, "multipart/form-data encoding algorithm"). */
function headOf({ name, type, fileName }: Part): string {
  const escaped = (text: string) =>
    wholeText(text, name).replaceAll('\n', '%0A').replaceAll('\r', '%0D').replaceAll('"', '%22');
  const fileText = fileName === undefined ? '' : `; filename="${escaped(fileName)}"`;
  const typeLine = type === undefined ? '' : `\r\ncontent-type: ${type.replaceAll(/[^\x20-\x7e]/g, '')}`;
  return `content-disposition: form-data; name="${escaped(name)}"${fileText}${typeLine}`;
}
