import { HttpException } from '@nestjs/common';
import { AppError, type ErrorCode, messageOf } from '../../errors/index.js';
import type { JsonValue } from '../../kernel/json/index.js';
import { readReturned } from '../call/returned-value.js';
import { Suspension, UnknownOutcome } from '../suspension.factory.js';
import type { SuspendOptions, Tool, ToolContext, ToolResult } from '../tool.types.js';
import { type Entry, fromEntry, toEntry } from './cached-tool.wrapper.js';

/** Records the outcomes of tool calls, and answers recorded ones. */
export interface ToolRecorder {
  /** Whether no tool may be called. */
  readonly isReplay: boolean;
  /** @returns the outcome; `null` for a call that must be executed @throws AppError if it must not */
  takeCall(name: string, args: unknown): JsonValue | null;
  addCall(name: string, args: unknown, outcome: JsonValue): void;
}

type RecordedOutcome =
  | { readonly returned: Entry }
  | { readonly suspended: SuspendOptions }
  | { readonly unknown: string }
  | { readonly error: { readonly message: string; readonly code?: ErrorCode; readonly status?: number } };

/** The recorded form of each tool: one for each, as states belong to a tool. */
export class RecordedTools {
  private readonly wrapped = new WeakMap<Tool, Tool>();

  /** @param secrets values to mask in errors inside a result */
  constructor(
    private readonly recorder: ToolRecorder,
    private readonly secrets: readonly string[],
  ) {}

  of(tool: Tool): Tool {
    let known = this.wrapped.get(tool);
    if (!known) this.wrapped.set(tool, (known = recordedTool(tool, this.recorder, this.secrets)));
    return known;
  }
}

/** Answers recorded calls and records the others. Retries and caches of the tool are inside; child runs are not recorded. */
function recordedTool(tool: Tool, recorder: ToolRecorder, secrets: readonly string[]): Tool {
  if (tool.child || tool.metadata.isClient) return tool;
  const { name } = tool.definition;
  const invoke = async (input: unknown, context: ToolContext): Promise<unknown> => {
    const recorded = recorder.takeCall(name, input);
    if (recorded !== null) return replayed(recorded as unknown as RecordedOutcome);
    const add = (outcome: RecordedOutcome) => recorder.addCall(name, input, outcome as unknown as JsonValue);
    try {
      const returned = await readReturned(tool.invoke(input, context), context.signal);
      if (returned instanceof Suspension) add({ suspended: returned.asked });
      else if (returned instanceof UnknownOutcome) add({ unknown: returned.reason });
      else add({ returned: toEntry(returned, secrets) });
      return returned;
    } catch (error) {
      if (!context.signal.aborted) add({ error: toRecordedError(error) });
      throw error;
    }
  };
  const answered: Tool = { ...tool, invoke };
  delete answered.recall;
  return answered;
}

/** The recorded form of a result, from which a replay makes the same one. @param whole the value of a truncated result */
export function recordedOutcomeOf(result: ToolResult, whole?: JsonValue): JsonValue {
  return outcomeOf(result, whole) as unknown as JsonValue;
}

/** An error gets its code by its kind. */
function outcomeOf(result: ToolResult, whole?: JsonValue): RecordedOutcome {
  if (result.success) {
    const { note, text, images } = result;
    const shown = { ...(note !== undefined && { note }), ...(text !== undefined && { text }) };
    const hasShown = note !== undefined || text !== undefined;
    return { returned: { value: whole ?? result.result, ...(images && { images }), ...(hasShown && { shown }) } };
  }
  const { error: message, code } = result;
  if (code === 'TOOL_FAILED') return { error: { message } };
  return { error: { message, code: code === 'TOOL_DENIED' ? 'FORBIDDEN' : code } };
}

function replayed(outcome: RecordedOutcome): unknown {
  if ('returned' in outcome) return fromEntry(outcome.returned);
  if ('suspended' in outcome) return new Suspension(outcome.suspended);
  if ('unknown' in outcome) return new UnknownOutcome(outcome.unknown);
  const { message, code, status } = outcome.error;
  if (code !== undefined) throw new AppError(code, message);
  throw status === undefined ? new Error(message) : new HttpException(message, status);
}

function toRecordedError(error: unknown): { message: string; code?: ErrorCode; status?: number } {
  const message = messageOf(error);
  if (error instanceof AppError) return { message, code: error.code };
  return error instanceof HttpException ? { message, status: error.getStatus() } : { message };
}
