import type { Logger } from '@nestjs/common';
import { type ErrorCode, MAX_IMAGES } from '../../common/index.js';
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

/** Makes of what came of calls what a model reads; never throws. */
export class CallResults {
  /** @param maxImageBytes that the images of one result may have together */
  constructor(
    private readonly logger: Logger,
    readonly maxImageBytes: number,
  ) {}

  /** @param isStarted whether the tool's own code was started */
  of(tool: Tool, outcome: CallOutcome, maxBytes: number, elapsedMs: number, isStarted = true): SucceededCall {
    if (!isStarted && outcome.kind === 'cancelled') return { result: cancelledBeforeStart(tool.definition.name) };
    switch (outcome.kind) {
      case 'returned':
        return this.returned(tool, outcome.value, maxBytes, elapsedMs);
      case 'threw':
        return { result: this.thrown(tool, outcome.error, maxBytes, elapsedMs) };
      case 'timed_out':
        return failed(tool, 'TOOL_TIMEOUT', `The tool did not finish within ${outcome.timeoutMs} ms.`, elapsedMs);
      case 'cancelled':
        return failed(tool, 'TOOL_CANCELLED', 'The call was cancelled before it finished.', elapsedMs);
    }
  }

  private returned(tool: Tool, returned: unknown, maxBytes: number, elapsedMs: number): SucceededCall {
    const { name } = tool.definition;
    try {
      const { value, images } = unfold(returned);
      const json = toJsonResult(value);
      const checked = tool.checkOutput?.(json.value) ?? VALID;
      if (checked.valid)
        return this.tellLeftOut(
          illustrated(succeededCall(name, json, maxBytes, elapsedMs), images, this.maxImageBytes),
        );
      const message = `The tool's result is not what it says of its results: ${checked.reason}`;
      this.logger.warn(`Tool "${name}" failed: ${message}`);
      return { result: failedResult(name, 'TOOL_INVALID_RESULT', cutText(message, maxBytes), elapsedMs) };
    } catch (error) {
      return { result: this.thrown(tool, error, maxBytes, elapsedMs) };
    }
  }

  private tellLeftOut(call: SucceededCall): SucceededCall {
    const { result } = call;
    if (!result.success || result.images_left_out === undefined) return call;
    const limits = `a result may have ${MAX_IMAGES}, of ${this.maxImageBytes} bytes together (AGENT_MAX_IMAGE_BYTES), in PNG, JPEG, GIF or WebP`;
    this.logger.warn(`Images of tool "${result.tool}" are left out, ${result.images_left_out} of them: ${limits}`);
    return call;
  }

  thrown({ definition: { name } }: Tool, error: unknown, maxBytes: number, elapsedMs: number): ToolResult {
    const { code, message } = this.warn(name, error);
    return failedResult(name, code, cutText(message, maxBytes), elapsedMs);
  }

  warn(name: string, error: unknown): ThrownError {
    const thrown = toThrownError(error);
    this.logger.warn(`Tool "${name}" failed: ${thrown.detail}`);
    return thrown;
  }
}

/** The outcome without the returned `state`; an invalid `state` is the call's failure. */
export function withoutState(held: StatefulCall | undefined, outcome: CallOutcome): CallOutcome {
  if (!held || outcome.kind !== 'returned') return outcome;
  try {
    return { kind: 'returned', value: held.withoutState(outcome.value) };
  } catch (error) {
    return { kind: 'threw', error };
  }
}

/** A tool that was given up on may go on; only a reading one leaves nothing behind. */
function failed({ definition, metadata }: Tool, code: ErrorCode, error: string, elapsedMs: number): SucceededCall {
  const doubt = metadata.effect === 'read' ? '' : ' It may have taken effect all the same.';
  return { result: failedResult(definition.name, code, error + doubt, elapsedMs) };
}
