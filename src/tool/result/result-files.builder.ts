import { hash } from 'node:crypto';
import { isJsonObject, type JsonValue } from '../../kernel/json/index.js';
import { DISPLAYED_IMAGES, mediaTypeOf, parseBinaryField, parseBinaryText } from '../../kernel/media/index.js';
import type { RunContext } from '../../run/context/index.js';
import type { PublishedFile, RunFile } from '../../run/files/index.js';
import { BinaryMarks, type JsonResult } from './json-result.mapper.js';
import type { BinaryPart, ResultContent } from './illustrated-result.factory.js';
import type { ToolResult } from '../tool.types.js';

type Succeeded = Extract<ToolResult, { success: true }>;

/** The text that refers to a file. */
export function fileReference(file: PublishedFile): string {
  return `[file ${file.n}: ${aboutFile(file)}]`;
}

/** Type, size and name of a file, as text. */
export function aboutFile({ media_type, bytes, name }: Omit<PublishedFile, 'n'>): string {
  return [media_type, `${countOf(bytes)} bytes`, ...(name === undefined ? [] : [name])].join(', ');
}

export function countOf(count: number): string {
  return count.toLocaleString('en-US');
}

/** The files of a result, for its replacement. */
export function filesOf({ files, audio }: Succeeded): Pick<Succeeded, 'files' | 'audio'> {
  return { ...(files && { files }), ...(audio && { audio }) };
}

/** Maximum number of files of one result. */
const MAX_FILES = 100;
/** Maximum size of all files of a run, as a multiple of that of one result. */
const RESULTS_A_RUN = 20;
const MAX_NAME = 200;
/** Nested values below this depth stay as they are. */
const MAX_DEPTH = 1000;
const HEARD_AUDIO = /^audio\/(?:wav|mpeg)$/;
const MIN_BINARY = 'data:,'.length;

/** Limits and numbers of the files of a result. */
export interface FileRules {
  /** Files of the run; without them binary content is only described. */
  readonly ledger?: RunContext['files'] | undefined;
  /** Maximum size of all files of one result, in bytes. */
  readonly maxBytes: number;
}

/** Takes binary content out of a result, and puts references in its place: `[file 1: application/pdf, 65,572 bytes]`. */
export class ResultFiles {
  readonly files: RunFile[] = [];
  /** Images of the value and of attached content, as data URIs. */
  readonly images: string[] = [];
  /** Audio that models take, as data URIs. */
  readonly audio: string[] = [];
  private bytes = 0;
  /** References by SHA-256, so that equal content is stored once. */
  private readonly known = new Map<string, string>();

  constructor(private readonly rules: FileRules) {}

  /** The result for the model. */
  shown(json: JsonResult, { text, attached = [], marks = json.marks ?? [] }: ResultContent): JsonResult {
    if (text) {
      const lines = text.map((part) => (typeof part === 'string' ? this.line(part) : this.add(part)));
      const joined = lines.filter((line) => line !== '').join('\n');
      return { value: joined, text: joined };
    }
    const value = this.replaced(json.value, new BinaryMarks(marks), 0);
    for (const part of attached) this.add(part);
    if (value === json.value) return json;
    return { value, text: typeof value === 'string' ? value : JSON.stringify(value) };
  }

  /** Stores an image that is data, unless it is stored already. */
  addImage(url: string): void {
    const image = parseBinaryText(url);
    if (image) this.add({ bytes: image.bytes });
  }

  private line(text: string): string {
    const binary = parseBinaryText(text);
    return binary ? this.add(binary) : text;
  }

  private replaced(value: JsonValue, marks: BinaryMarks, depth: number): JsonValue {
    if (typeof value === 'string') return this.text(value, marks);
    if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return value;
    if (Array.isArray(value)) {
      const items = value.map((item) => this.replaced(item, marks, depth + 1));
      return items.some((item, at) => item !== value[at]) ? items : value;
    }
    if (!isJsonObject(value)) return value;
    const [field, part] = binaryMember(value) ?? [];
    let isChanged = false;
    const entries = Object.entries(value as Readonly<Record<string, JsonValue>>).map(([key, member]) => {
      const shown = key === field ? this.add(part!) : this.replaced(member, marks, depth + 1);
      isChanged ||= shown !== member;
      return [key, shown] as const;
    });
    return isChanged ? (Object.fromEntries(entries) as JsonValue) : value;
  }

  private text(text: string, marks: BinaryMarks): string {
    const mark = marks.of(text);
    if (mark) return this.add({ bytes: Buffer.from(text, 'base64'), ...mark });
    return text.length < MIN_BINARY ? text : this.line(text);
  }

  /** @returns the reference */
  private add(part: BinaryPart): string {
    const mediaType = mediaTypeOf(part.bytes, part.mediaType);
    const digest = hash('sha256', part.bytes, 'base64');
    const known = this.known.get(digest);
    if (known !== undefined) return known;
    const reference = this.store(part, mediaType);
    this.known.set(digest, reference);
    const url = () => `data:${mediaType};base64,${part.bytes.toString('base64')}`;
    if (DISPLAYED_IMAGES.has(mediaType)) this.images.push(url());
    else if (HEARD_AUDIO.test(mediaType)) this.audio.push(url());
    return reference;
  }

  private store({ bytes, prefix, name }: BinaryPart, mediaType: string): string {
    const { ledger } = this.rules;
    const label = nameOf(name);
    const about = aboutFile({ media_type: mediaType, bytes: bytes.length, ...(label && { name: label }) });
    const excess = this.excess(bytes.length);
    if (excess !== null) return `[file left out: ${about}; ${excess}]`;
    if (!ledger) return `[file: ${about}]`;
    const n = ledger.add(bytes.length);
    this.bytes += bytes.length;
    this.files.push({ n, mediaType, bytes, ...(label && { name: label }), ...(prefix !== undefined && { prefix }) });
    return `[file ${n}: ${about}]`;
  }

  private excess(added: number): string | null {
    const { maxBytes, ledger } = this.rules;
    if (this.bytes + added > maxBytes) return `the files of a result may have ${limitText(maxBytes)}`;
    if (this.files.length >= MAX_FILES) return `a result may have ${MAX_FILES} files`;
    const most = maxBytes * RESULTS_A_RUN;
    return ledger && ledger.bytes + added > most ? `the files of a run may have ${limitText(most)}` : null;
  }
}

function limitText(bytes: number): string {
  return `${countOf(bytes)} bytes (AGENT_MAX_FILE_BYTES)`;
}

/** A value with a note in place of binary content. */
export function withoutBinary(value: JsonValue): JsonValue {
  return new ResultFiles({ maxBytes: Number.POSITIVE_INFINITY }).shown({ value, text: '' }, {}).value;
}

/** The `data` of an image or audio block, or the `blob` of a resource (modelcontextprotocol.io, "Tools", "Resources"). */
function binaryMember(value: Readonly<Record<string, unknown>>): [string, BinaryPart] | null {
  const isMedia = value['type'] === 'image' || value['type'] === 'audio';
  const field = isMedia ? 'data' : 'blob';
  const { [field]: content, mimeType, uri } = value;
  const about = {
    ...(typeof mimeType === 'string' && { mediaType: mimeType }),
    ...(typeof uri === 'string' && { name: uri }),
  };
  const isBlock = 'mediaType' in about || (!isMedia && 'name' in about);
  const part = isBlock && typeof content === 'string' ? parseBinaryField(content) : null;
  return part && [field, { ...part, ...about }];
}

/** A name for the reference: no line breaks, no brackets, no content. */
function nameOf(name = ''): string {
  if (/^\s*data:/i.test(name)) return '';
  return name
    .replaceAll(/[\p{Cc}\p{Cs}[\]]+/gu, ' ')
    .trim()
    .slice(0, MAX_NAME);
}
