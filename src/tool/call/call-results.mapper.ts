import type { Logger } from '@nestjs/common';
import { type ErrorCode, MAX_IMAGES } from '../../common/index.js';
import type { ContentFilter } from '../../security/index.js';
import { unfold } from '../illustrated-result.factory.js';
import type { StatefulCall } from '../state/stateful-call.executor.js';
import type { Tool, ToolResult } from '../tool.types.js';
import type { CallOutcome } from './bounded-call.executor.js';
import { cutText } from './cut-text.mapper.js';
import { toJsonResult } from './json-result.mapper.js';
import { illustrated } from './shown-image.policy.js';
import { type ThrownError, toThrownError } from './thrown-error.mapper.js';
import { cancelledBeforeStart, failedResult, succeededCall, type SucceededCall } from './tool-result.factory.js';

const VALID = { valid: true } as const;

/** A filter that only masks. */
type LogFilter = ContentFilter | null;

/** Maps the outcomes of calls to results for the model; never throws. */
export class CallResults {
  /** @param maxImageBytes maximum size of all images of one result */
  constructor(
    private readonly logger: Logger,
    readonly maxImageBytes: number,
  ) {}

  /**
   * @param isStarted whether the tool's own code was started
   * @param filter masks secrets in the log
   */
  of(
    tool: Tool,
    outcome: CallOutcome,
    maxBytes: number,
    elapsedMs: number,
    isStarted: boolean,
    filter?: LogFilter,
  ): SucceededCall {
    if (!isStarted && outcome.kind === 'cancelled') return { result: cancelledBeforeStart(tool.definition.name) };
    switch (outcome.kind) {
      case 'returned':
        return this.returned(tool, outcome.value, maxBytes, elapsedMs, filter);
      case 'threw':
        return { result: this.thrown(tool, outcome.error, maxBytes, elapsedMs, filter) };
      case 'timed_out':
        return failed(tool, 'TOOL_TIMEOUT', `The tool did not finish within ${outcome.timeoutMs} ms.`, elapsedMs);
      case 'cancelled':
        return failed(tool, 'TOOL_CANCELLED', 'The call was cancelled before it finished.', elapsedMs);
    }
  }

  private returned(
    tool: Tool,
    returned: unknown,
    maxBytes: number,
    elapsedMs: number,
    filter?: LogFilter,
  ): SucceededCall {
    const { name } = tool.definition;
    try {
      const { value, images } = unfold(returned);
      const json = toJsonResult(value);
      const checked = tool.checkOutput?.(json.value) ?? VALID;
      if (checked.valid)
        return this.warnLeftOut(
          illustrated(succeededCall(name, json, maxBytes, elapsedMs), images, this.maxImageBytes),
        );
      const message = `The tool's result does not match its output schema: ${checked.reason}`;
      this.logger.warn(`Tool "${name}" failed: ${masked(message, filter)}`);
      return { result: failedResult(name, 'TOOL_INVALID_RESULT', cutText(message, maxBytes), elapsedMs) };
    } catch (error) {
      return { result: this.thrown(tool, error, maxBytes, elapsedMs, filter) };
    }
  }

  private warnLeftOut(call: SucceededCall): SucceededCall {
    const { result } = call;
    if (!result.success || result.images_left_out === undefined) return call;
    const limits = `a result may have ${MAX_IMAGES}, of ${this.maxImageBytes} bytes together (AGENT_MAX_IMAGE_BYTES), in PNG, JPEG, GIF or WebP`;
    this.logger.warn(`Images of tool "${result.tool}" are left out, ${result.images_left_out} of them: ${limits}`);
    return call;
  }

  thrown(
    { definition: { name } }: Tool,
    error: unknown,
    maxBytes: number,
    elapsedMs: number,
    filter?: LogFilter,
  ): ToolResult {
    const { code, message } = this.warn(name, error, filter);
    return failedResult(name, code, cutText(message, maxBytes), elapsedMs);
  }

  warn(name: string, error: unknown, filter?: LogFilter): ThrownError {
    const thrown = toThrownError(error);
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

function masked(text: string, filter: LogFilter | undefined): string {
  const filtered = filter?.text(text);
  return filtered?.kind === 'masked' ? filtered.value : text;
}

/** An abandoned call may still have an effect, unless its tool only reads. */
function failed({ definition, metadata }: Tool, code: ErrorCode, error: string, elapsedMs: number): SucceededCall {
  const doubt = metadata.effect === 'read' ? '' : ' It may have taken effect all the same.';
  return { result: failedResult(definition.name, code, error + doubt, elapsedMs) };
}
