import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cassetteMode, type CassetteMode } from '../../config/index.js';
import { AppError } from '../../errors/index.js';
import { canonicalJson, type JsonValue } from '../../kernel/json/index.js';
import { createSecretMask } from '../../kernel/text/index.js';
import type { ChatModel } from '../chat/chat-model.js';
import type { ChatRequest, ChatResult, Usage } from '../chat/chat.types.js';
import type { EmbeddingModel, EmbeddingResult } from '../embedding-model.js';
import { withoutPersonalData } from './personal-data.mapper.js';
import { keyOf, normalise, toJson, toRecordedRequest, type RecordedRequest } from './recorded-request.mapper.js';
import { differenceOf, likeness } from './request-difference.mapper.js';

/** Whether tools are called, or answered from the cassette as models are. */
export type CassetteTools = 'real' | 'recorded';

export interface CassetteOptions {
  /** Default `auto`. With the variable `CI` it is always `replay`. */
  readonly mode?: CassetteMode;
  /** `recorded`: tool calls are recorded, too, and a replay calls no tool. Default `real`. */
  readonly tools?: CassetteTools;
  /** Further texts to mask in the file; texts in the shape of secrets are always masked. */
  readonly secrets?: readonly string[];
}

/** Whether a line is of a production run: its request has marks in place of personal data. */
interface Masking {
  readonly masked?: true;
}

/** A line of the file: one model call. */
interface Line extends Masking {
  readonly key: string;
  readonly request: RecordedRequest;
  readonly reply: Omit<ChatResult, 'usage'>;
  readonly usage?: Usage;
}

/** A line of the file: one tool call. */
interface ToolLine extends Masking {
  readonly kind: 'tool';
  readonly name: string;
  readonly arguments: JsonValue;
  readonly result: JsonValue;
}

/** A line of the file: one call of an embedding model. */
interface EmbeddingLine {
  readonly kind: 'embedding';
  /** `provider:model` */
  readonly model: string;
  readonly texts: readonly string[];
  readonly result: EmbeddingResult;
}

type AnyLine = Line | ToolLine | EmbeddingLine;
type Named = Pick<ChatModel, 'provider' | 'name'>;
type NamedEmbedding = Pick<EmbeddingModel, 'provider' | 'name'>;

/** Shown characters of an unused line. */
const SHOWN = 200;

/** Model calls recorded in a file of JSON lines. One object serves the processes of a test that follow each other. */
export class Cassette {
  readonly mode: CassetteMode;
  readonly tools: CassetteTools;
  private readonly unused: Line[];
  private readonly unusedCalls: ToolLine[];
  private readonly unusedTexts: EmbeddingLine[];
  private readonly mask: (text: string) => string;
  private requests = 0;
  private missing: AppError | undefined;

  constructor(
    readonly file: string,
    { mode = 'auto', tools = 'real', secrets = [] }: CassetteOptions = {},
  ) {
    this.mode = cassetteMode(mode);
    this.tools = tools;
    this.mask = createSecretMask(secrets);
    if (this.mode === 'record') writeFileSync(file, '');
    const lines = this.mode === 'record' ? [] : readLines(file, this.mode === 'replay');
    this.unused = lines.filter((line): line is Line => !('kind' in line));
    this.unusedCalls = lines.filter((line) => 'kind' in line && line.kind === 'tool');
    this.unusedTexts = lines.filter((line) => 'kind' in line && line.kind === 'embedding');
  }

  /**
   * The recorded reply, which is then used; `null` for a request that must reach the model.
   * @throws AppError `MODEL_REFUSED` with the differences to the nearest line, if the model must not be called
   */
  take(model: Named, request: ChatRequest): ChatResult | null {
    this.requests++;
    const plain = this.toRecorded(model, request);
    const masked = this.unused.some((line) => line.masked) ? this.toRecorded(model, request, true) : plain;
    const [plainKey, maskedKey] = [keyOf(plain), keyOf(masked)];
    const at = this.unused.findIndex((line) => line.key === (line.masked ? maskedKey : plainKey));
    if (at !== -1) {
      const { reply, usage } = this.unused.splice(at, 1)[0]!;
      return { ...reply, ...(usage && { usage }) };
    }
    if (this.mode !== 'replay') return null;
    throw this.lacking(this.refusal(plain, masked));
  }

  /** Records a reply. */
  add(model: Named, request: ChatRequest, { usage, ...reply }: ChatResult): void {
    const recorded = this.toRecorded(model, request);
    this.append({ key: keyOf(recorded), request: recorded, reply, ...(usage && { usage }) } satisfies Line);
  }

  get isReplay(): boolean {
    return this.mode === 'replay';
  }

  /**
   * The recorded outcome of a tool call, which is then used; `null` for a call that must be executed.
   * @throws AppError `TOOL_FAILED` with the unused calls of the tool, if it must not
   */
  takeCall(name: string, args: unknown): JsonValue | null {
    const [plainKey, maskedKey] = [this.callKey(name, args), this.callKey(name, args, true)];
    const isSame = (line: ToolLine) =>
      this.callKey(line.name, line.arguments, line.masked) === (line.masked ? maskedKey : plainKey);
    const at = this.unusedCalls.findIndex(isSame);
    if (at !== -1) return this.unusedCalls.splice(at, 1)[0]!.result;
    if (!this.isReplay) return null;
    const others = this.unusedCalls.filter((line) => line.name === name).map((line) => `\n  - ${showCall(line)}`);
    const shown =
      others.length === 0 ? ' The tool has no unused line.' : ` Unused lines of the tool:${others.join('')}`;
    const message = `The tool call ${this.mask(showCall({ name, arguments: toJson(args) }))} is not in the cassette ${this.file}; record it again.${shown}`;
    throw this.lacking(new AppError('TOOL_FAILED', message));
  }

  /** Records the outcome of a tool call. */
  addCall(name: string, args: unknown, result: JsonValue): void {
    this.append({ kind: 'tool', name, arguments: toJson(args), result } satisfies ToolLine);
  }

  /**
   * The recorded vectors of texts, which are then used; `null` for a call that must reach the model.
   * @throws AppError `MODEL_REFUSED` if it must not
   */
  takeVectors({ provider, name }: NamedEmbedding, texts: readonly string[]): EmbeddingResult | null {
    const model = `${provider}:${name}`;
    const key = canonicalJson([model, normalise([...texts], this.mask)]);
    const at = this.unusedTexts.findIndex((line) => canonicalJson([line.model, toJson(line.texts)]) === key);
    if (at !== -1) return this.unusedTexts.splice(at, 1)[0]!.result;
    if (!this.isReplay) return null;
    const message = `The vectors of ${model} for ${this.mask(JSON.stringify(texts)).slice(0, SHOWN)} are not in the cassette ${this.file}; record it again.`;
    throw this.lacking(new AppError('MODEL_REFUSED', message));
  }

  /** Records the vectors of texts. */
  addVectors({ provider, name }: NamedEmbedding, texts: readonly string[], result: EmbeddingResult): void {
    const recorded = normalise([...texts], this.mask);
    this.append({ kind: 'embedding', model: `${provider}:${name}`, texts: recorded, result });
  }

  private append(line: object): void {
    appendFileSync(this.file, `${this.mask(JSON.stringify(line))}\n`);
  }

  private lacking(error: AppError): AppError {
    this.missing ??= error;
    return error;
  }

  private callKey(name: string, args: unknown, isMasked = false): string {
    return canonicalJson([name, normalise(toJson(args), this.mask, isMasked ? withoutPersonalData : undefined)]);
  }

  /** @throws AppError `VALIDATION_FAILED` if a replayed request was not recorded, or a line is unused */
  assertDone(): void {
    if (this.mode !== 'replay') return;
    if (this.missing) throw this.missing;
    const calls = this.tools === 'recorded' ? this.unusedCalls : [];
    const count = this.unused.length + calls.length + this.unusedTexts.length;
    if (count === 0) return;
    const shown = [
      ...this.unusedTexts.map(({ texts }) => JSON.stringify(texts)),
      ...this.unused.map(({ request }) => JSON.stringify(request.messages.at(-1))),
      ...calls.map(showCall),
    ].map((line) => `  - ${line.slice(0, SHOWN)}`);
    throw new AppError(
      'VALIDATION_FAILED',
      `${count} lines of the cassette ${this.file} had no request; record it again. Their last messages, calls and texts:\n${shown.join('\n')}`,
    );
  }

  private toRecorded({ provider, name }: Named, request: ChatRequest, isMasked = false): RecordedRequest {
    return toRecordedRequest(`${provider}:${name}`, request, this.mask, isMasked ? withoutPersonalData : undefined);
  }

  private refusal(plain: RecordedRequest, masked: RecordedRequest): AppError {
    const requestFor = (line: Line) => (line.masked ? masked : plain);
    const likenessOf = (line: Line) => likeness(line.request, requestFor(line));
    const [nearest] = this.unused.toSorted((a, b) => likenessOf(b) - likenessOf(a));
    const difference = nearest
      ? ` Differences to the nearest unused line: - recorded, + requested.\n${differenceOf(nearest.request, requestFor(nearest))}`
      : ' It has no unused line.';
    return new AppError(
      'MODEL_REFUSED',
      `Model request ${this.requests} is not in the cassette ${this.file}; record it again.${difference}`,
    );
  }
}

function showCall({ name, arguments: args }: Pick<ToolLine, 'name' | 'arguments'>): string {
  return `${name}(${JSON.stringify(args)})`;
}

function readLines(file: string, mustExist: boolean): AnyLine[] {
  if (!existsSync(file)) {
    if (!mustExist) return [];
    throw new AppError(
      'CONFIG_INVALID',
      `The cassette ${file} does not exist; record it with the mode "record" or "auto".`,
    );
  }
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.flatMap((text, at) => (text.trim() === '' ? [] : [readLine(text, `${file}:${at + 1}`)]));
}

function readLine(text: string, place: string): AnyLine {
  try {
    return JSON.parse(text) as AnyLine;
  } catch (cause) {
    throw new AppError('CONFIG_INVALID', `${place} is no JSON; record the cassette again.`, { cause });
  }
}
