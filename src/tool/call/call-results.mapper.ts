import { HttpException } from '@nestjs/common';
import { AppError, type ErrorCode, type Log } from '../../errors/index.js';
import { HEAP_COST, HeapReservation } from '../../kernel/index.js';
import { MAX_IMAGES } from '../../kernel/media/index.js';
import { maskSecrets } from '../../kernel/text/index.js';
import { toPublishedFile } from '../../run/files/index.js';
import type { ContentFilter } from '../../security/content/index.js';
import { ResultFiles, withoutBinary } from '../result/result-files.builder.js';
import { ShownResult, unfold } from '../result/illustrated-result.factory.js';
import type { StatefulCall } from '../stateful/stateful-calls.js';
import type { Tool, ToolInput, ToolResult } from '../tool.types.js';
import type { CallOutcome } from './bounded-call.executor.js';
import {
  cancelledBeforeStart,
  cutText,
  failedResult,
  illustrated,
  succeededCall,
  type SucceededCall,
  withShownText,
} from '../result/tool-result.factory.js';
import { maskPaths } from './file-path.mapper.js';
import { toJsonResult } from '../result/json-result.mapper.js';
import type { ResultRules } from './result-limits.policy.js';
import { thrownStack, thrownText } from './thrown-text.mapper.js';

/** Error of a call, mapped for the model. */
interface ThrownError {
  readonly code: ErrorCode;
  readonly message: string;
  /** Text for the log: the message of an expected error, the stack of any other error. */
  readonly detail: string;
}

const DENYING_STATUS: ReadonlySet<number> = new Set([401, 403]);
const DENYING_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['FORBIDDEN', 'UNAUTHENTICATED']);

/** Codes that describe the failure themselves and stay unchanged. */
const OWN_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'HEAP_EXHAUSTED',
  'TOOL_INVALID_RESULT',
  'TOOL_STATE_TOO_LARGE',
  'TOOL_STATE_CONFLICT',
  'TOOL_STATE_LIMIT',
  'TOOL_STATE_UNAVAILABLE',
]);

/**
 * Maps a thrown value: `TOOL_DENIED` for an authorisation error of a guard or the tool, otherwise `TOOL_FAILED`. Message
 * and detail contain no secrets, and the message no paths of files.
 * @param secrets values to mask in addition to secret-shaped texts
 * @param args arguments of the call, whose paths the message may have
 */
function toThrownError(error: unknown, secrets: readonly string[] = [], args?: unknown): ThrownError {
  const text = maskSecrets(thrownText(error, secrets), secrets);
  const isOnPurpose = error instanceof HttpException;
  const message = isReported(error) ? text : maskPaths(text, args);
  return { code: codeOf(error), message, detail: isOnPurpose ? text : maskSecrets(thrownStack(error), secrets) };
}

/** Whether the error is the result of an MCP tool: the server has written its text for the model. */
function isReported(error: unknown): boolean {
  return error instanceof AppError && error.code === 'TOOL_EXECUTION_FAILED';
}

function codeOf(error: unknown): ErrorCode {
  if (error instanceof AppError && OWN_CODES.has(error.code)) return error.code;
  return isDenial(error) ? 'TOOL_DENIED' : 'TOOL_FAILED';
}

function isDenial(error: unknown): boolean {
  if (error instanceof AppError) return DENYING_CODES.has(error.code);
  return error instanceof HttpException && DENYING_STATUS.has(error.getStatus());
}

const VALID: ToolInput = { valid: true, value: undefined };

/** A call; a tool that reports the outcome of an earlier one has no arguments. */
interface Call {
  readonly tool: Tool;
  readonly input?: unknown;
}

/** A filter that only masks. */
type LogFilter = ContentFilter | null;

/** Maps the outcomes of calls to results for the model; never throws. */
export class CallResults {
  /**
   * @param maxImageBytes maximum size of all images of one result
   * @param secrets values to mask in errors, in addition to secret-shaped texts
   */
  constructor(
    private readonly logger: Log,
    readonly maxImageBytes: number,
    private readonly secrets: readonly string[],
  ) {}

  /**
   * @param call its arguments are the paths that an error may name
   * @param isStarted whether the tool's own code was started
   * @param filter masks secrets in the log
   */
  async of(
    call: Call,
    outcome: CallOutcome,
    rules: ResultRules,
    elapsedMs: number,
    isStarted: boolean,
    filter?: LogFilter,
  ): Promise<SucceededCall> {
    const { tool } = call;
    if (!isStarted && outcome.kind === 'cancelled') return { result: cancelledBeforeStart(tool.definition.name) };
    switch (outcome.kind) {
      case 'returned':
        return this.returned(call, outcome.value, rules, elapsedMs, filter);
      case 'threw':
        return { result: this.thrown(call, outcome.error, rules.maxBytes, elapsedMs, filter) };
      case 'timed_out':
        return failed(tool, 'TOOL_TIMEOUT', `The tool did not finish within ${outcome.timeoutMs} ms.`, elapsedMs);
      case 'cancelled':
        return failed(tool, 'TOOL_CANCELLED', 'The call was cancelled before it finished.', elapsedMs);
    }
  }

  private async returned(
    call: Call,
    returned: unknown,
    { maxBytes, files }: ResultRules,
    elapsedMs: number,
    filter?: LogFilter,
  ): Promise<SucceededCall> {
    const { tool } = call;
    const { name } = tool.definition;
    try {
      const { value, images, content } = unfold(returned);
      const json = toJsonResult(value, this.secrets);
      if (!HeapReservation.grow(json.text.length * HEAP_COST.result)) throw tooLarge(json.text.length);
      const checked = tool.checkOutput ? await tool.checkOutput(json.value) : VALID;
      if (checked.valid || checked.isUndecided) {
        if (!checked.valid) this.warnUnchecked(name, checked.reason, filter);
        const shown = returned instanceof ShownResult ? returned.shown : {};
        const found = new ResultFiles(files);
        const stored = found.shown(json, content);
        const done = withShownText(succeededCall(name, stored, maxBytes, elapsedMs), shown, maxBytes);
        const all = [...found.images, ...images.filter((url) => !found.images.includes(url))];
        return withFiles(this.warnLeftOut(illustrated(done, all, this.maxImageBytes)), found);
      }
      const message = `The tool's result does not match its output schema: ${checked.reason}`;
      this.logger.warn(`Tool "${name}" failed: ${masked(message, filter)}`);
      return { result: failedResult(name, 'TOOL_INVALID_RESULT', cutText(message, maxBytes), elapsedMs) };
    } catch (error) {
      return { result: this.thrown(call, error, maxBytes, elapsedMs, filter) };
    }
  }

  /** The call was executed and may have had its effect, so its result is used. */
  private warnUnchecked(name: string, reason: string, filter?: LogFilter): void {
    const unchecked = `Result of tool "${name}" was not checked against its output schema`;
    this.logger.warn(`${unchecked}: ${masked(reason, filter)}`);
  }

  private warnLeftOut(call: SucceededCall): SucceededCall {
    const { result } = call;
    if (!result.success || result.images_left_out === undefined) return call;
    const limits = `a result may have ${MAX_IMAGES}, of ${this.maxImageBytes} bytes together (AGENT_MAX_IMAGE_BYTES), in PNG, JPEG, GIF or WebP`;
    this.logger.warn(`Images of tool "${result.tool}" are left out, ${result.images_left_out} of them: ${limits}`);
    return call;
  }

  thrown({ tool, input }: Call, error: unknown, maxBytes: number, elapsedMs: number, filter?: LogFilter): ToolResult {
    const { name } = tool.definition;
    const { code, message } = this.warn(name, error, filter, input);
    return failedResult(name, code, cutText(withoutBinary(message) as string, maxBytes), elapsedMs);
  }

  /** The result of a call whose tool reports its failure afterwards. */
  reportedFailure(name: string, error: string, maxBytes: number): ToolResult {
    return failedResult(name, 'TOOL_FAILED', cutText(maskPaths(maskSecrets(error, this.secrets)), maxBytes));
  }

  /** Logs a failure of a tool's code other than the call itself. */
  warnReason(failure: string, reason: string): void {
    this.logger.warn(`${failure}: ${maskSecrets(reason, this.secrets)}`);
  }

  warn(name: string, error: unknown, filter?: LogFilter, args?: unknown): ThrownError {
    const thrown = toThrownError(error, this.secrets, args);
    this.logger.warn(`Tool "${name}" failed: ${masked(thrown.detail, filter)}`);
    return thrown;
  }
}

/** Removes the returned `state`; an invalid `state` makes the call fail. */
export function withoutState(held: StatefulCall | undefined, outcome: CallOutcome): CallOutcome {
  if (!held || outcome.kind !== 'returned') return outcome;
  try {
    return { kind: 'returned', value: held.withoutState(outcome.value) };
  } catch (error) {
    return { kind: 'threw', error };
  }
}

/** The call was made, so a person or the model must know that only its result is lost. */
function tooLarge(length: number): AppError {
  const message = `The call succeeded, but the server has no memory for its result of ${length} characters: ask for less at once.`;
  return new AppError('HEAP_EXHAUSTED', message);
}

function masked(text: string, filter: LogFilter | undefined): string {
  const filtered = filter?.text(text);
  return filtered?.kind === 'masked' ? filtered.value : text;
}

/** An abandoned call may still have an effect, unless its tool only reads. */
function failed({ definition, metadata }: Tool, code: ErrorCode, error: string, elapsedMs: number): SucceededCall {
  const doubt = metadata.effect === 'read' ? '' : ' It may have taken effect all the same.';
  return { result: failedResult(definition.name, code, error + doubt, elapsedMs) };
}

/** Adds the files of a result. Images that its tool gave with `withImages` have no reference in the text. */
function withFiles(call: SucceededCall, found: ResultFiles): SucceededCall {
  const { result } = call;
  if (!result.success) return call;
  const mentioned = found.files.map(toPublishedFile);
  for (const url of result.images ?? []) found.addImage(url);
  if (found.files.length === 0) return call;
  const shown = {
    ...(mentioned.length > 0 && { files: mentioned }),
    ...(found.audio.length > 0 && { audio: found.audio }),
  };
  return { ...call, result: { ...result, ...shown }, files: found.files };
}
