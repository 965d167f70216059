import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cassetteMode, type CassetteMode } from '../../config/index.js';
import { AppError } from '../../errors/index.js';
import { canonicalJson, createSecretMask, type JsonValue } from '../../kernel/index.js';
import type { ChatModel } from '../chat-model.js';
import type { ChatRequest, ChatResult, Usage } from '../chat.types.js';
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

type Named = Pick<ChatModel, 'provider' | 'name'>;

/** Model calls recorded in a file of JSON lines. One object serves the processes of a test that follow each other. */
export class Cassette {
  readonly mode: CassetteMode;
  readonly tools: CassetteTools;
  private readonly unused: Line[];
  private readonly unusedCalls: ToolLine[];
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
    this.unused = lines.filter((line): line is Line => !isToolLine(line));
    this.unusedCalls = lines.filter((line) => isToolLine(line));
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
    const error = this.refusal(plain, masked);
    this.missing ??= error;
    throw error;
  }

  /** Records a reply. */
  add(model: Named, request: ChatRequest, { usage, ...reply }: ChatResult): void {
    const recorded = this.toRecorded(model, request);
    const line = { key: keyOf(recorded), request: recorded, reply, ...(usage && { usage }) } satisfies Line;
    appendFileSync(this.file, `${this.mask(JSON.stringify(line))}\n`);
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
    const error = new AppError(
      'TOOL_FAILED',
      `The tool call ${this.mask(showCall({ name, arguments: toJson(args) }))} is not in the cassette ${this.file}; record it again.${shown}`,
    );
    this.missing ??= error;
    throw error;
  }

  /** Records the outcome of a tool call. */
  addCall(name: string, args: unknown, result: JsonValue): void {
    const line: ToolLine = { kind: 'tool', name, arguments: toJson(args), result };
    appendFileSync(this.file, `${this.mask(JSON.stringify(line))}\n`);
  }

  private callKey(name: string, args: unknown, isMasked = false): string {
    return canonicalJson([name, normalise(toJson(args), this.mask, isMasked ? withoutPersonalData : undefined)]);
  }

  /** @throws AppError `VALIDATION_FAILED` if a replayed request was not recorded, or a line is unused */
  assertDone(): void {
    if (this.mode !== 'replay') return;
    if (this.missing) throw this.missing;
    const calls = this.tools === 'recorded' ? this.unusedCalls : [];
    const count = this.unused.length + calls.length;
    if (count === 0) return;
    const shown = [
      ...this.unused.map(({ request }) => JSON.stringify(request.messages.at(-1))),
      ...calls.map(showCall),
    ].map((line) => `  - ${line.slice(0, 200)}`);
    throw new AppError(
      'VALIDATION_FAILED',
      `${count} lines of the cassette ${this.file} had no request; record it again. Their last messages and calls:\n${shown.join('\n')}`,
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

function isToolLine(line: Line | ToolLine): line is ToolLine {
  return 'kind' in line;
}

function showCall({ name, arguments: args }: Pick<ToolLine, 'name' | 'arguments'>): string {
  return `${name}(${JSON.stringify(args)})`;
}

function readLines(file: string, mustExist: boolean): (Line | ToolLine)[] {
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

function readLine(text: string, place: string): Line | ToolLine {
  try {
    return JSON.parse(text) as Line | ToolLine;
  } catch (cause) {
    throw new AppError('CONFIG_INVALID', `${place} is no JSON; record the cassette again.`, { cause });
  }
}
