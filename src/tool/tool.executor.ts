import { Injectable, Logger } from '@nestjs/common';
import { AppError, type ErrorCode, messageOf } from '../common/index.js';
import { parseArguments } from './call/arguments.parser.js';
import { type CallOutcome, callBounded } from './call/bounded-call.executor.js';
import { cutText } from './call/cut-text.mapper.js';
import { toJsonResult } from './call/json-result.mapper.js';
import type { PlannedCall, RequestedCall, Tool, ToolContext, ToolInput, ToolResult } from './tool.types.js';

export interface InvokeOptions {
  /** The most bytes (UTF-8) of a result or an error that are kept; by default 65,536. */
  readonly maxResultBytes?: number;
}

const DEFAULT_MAX_RESULT_BYTES = 65_536;

/**
 * The one way a tool is called: `plan` decides, `invoke` does. Neither throws: whatever goes wrong is a result that
 * the model can read.
 */
@Injectable()
export class ToolExecutor {
  private readonly logger = new Logger('ToolExecutor');

  /** Finds the tool among those of the run and checks the arguments; nothing is called yet. */
  async plan(call: RequestedCall, tools: ReadonlyMap<string, Tool>): Promise<PlannedCall> {
    const tool = tools.get(call.name);
    if (!tool) return rejected(call.name, 'TOOL_NOT_FOUND', unknownTool(call.name, tools));
    const parsed = parseArguments(call.arguments);
    if (!parsed.ok) return rejected(call.name, 'TOOL_INVALID_ARGUMENTS', parsed.reason);
    let input: ToolInput;
    try {
      input = await tool.validate(parsed.value);
    } catch (error) {
      this.warn(call.name, error);
      return rejected(call.name, 'TOOL_FAILED', `The check of the arguments failed: ${messageOf(error)}`);
    }
    if (!input.valid) return rejected(call.name, 'TOOL_INVALID_ARGUMENTS', `Invalid arguments: ${input.reason}`);
    return { kind: 'run', tool, input: input.value };
  }

  /** Calls the tool within its time and the run's signal. */
  async invoke(
    planned: Extract<PlannedCall, { kind: 'run' }>,
    context: ToolContext,
    options: InvokeOptions = {},
  ): Promise<ToolResult> {
    const started = performance.now();
    const { tool, input } = planned;
    const outcome = await callBounded(
      (signal) => tool.invoke(input, signal === context.signal ? context : { ...context, signal }),
      context.signal,
      tool.metadata.timeoutMs,
    );
    const maxBytes = options.maxResultBytes ?? DEFAULT_MAX_RESULT_BYTES;
    return this.toResult(tool, outcome, maxBytes, Math.round(performance.now() - started));
  }

  private toResult(tool: Tool, outcome: CallOutcome, maxBytes: number, elapsedMs: number): ToolResult {
    const { name } = tool.definition;
    switch (outcome.kind) {
      case 'returned':
        return this.returned(name, outcome.value, maxBytes, elapsedMs);
      case 'threw':
        this.warn(name, outcome.error);
        return failed(name, 'TOOL_FAILED', cutText(messageOf(outcome.error), maxBytes), elapsedMs);
      case 'timed_out':
        return failed(
          name,
          'TOOL_TIMEOUT',
          `The tool did not finish within ${outcome.timeoutMs} ms.${doubt(tool)}`,
          elapsedMs,
        );
      case 'cancelled':
        return failed(name, 'TOOL_CANCELLED', `The call was cancelled before it finished.${doubt(tool)}`, elapsedMs);
    }
  }

  private returned(name: string, returned: unknown, maxBytes: number, elapsedMs: number): ToolResult {
    try {
      const { value, text } = toJsonResult(returned);
      const kept = cutText(text, maxBytes);
      return { tool: name, success: true, result: kept === text ? value : kept, execution_time_ms: elapsedMs };
    } catch (error) {
      this.warn(name, error);
      return failed(name, 'TOOL_FAILED', messageOf(error), elapsedMs);
    }
  }

  /** Errors of ours were thrown on purpose and say all in their message; of others the stack is wanted. */
  private warn(name: string, error: unknown): void {
    const detail = error instanceof Error && !(error instanceof AppError) ? error.stack : undefined;
    this.logger.warn(`Tool "${name}" failed: ${detail ?? messageOf(error)}`);
  }
}

function rejected(tool: string, code: ErrorCode, error: string): PlannedCall {
  return { kind: 'rejected', result: failed(tool, code, error, 0) };
}

function failed(tool: string, code: ErrorCode, error: string, elapsedMs: number): ToolResult {
  return { tool, success: false, error, code, execution_time_ms: elapsedMs };
}

function unknownTool(name: string, tools: ReadonlyMap<string, Tool>): string {
  const available = tools.size > 0 ? `Available tools: ${[...tools.keys()].join(', ')}.` : 'No tools are available.';
  return `Unknown tool "${name}". ${available}`;
}

/** A tool that was given up on may go on; only a reading one leaves nothing behind. */
function doubt(tool: Tool): string {
  return tool.metadata.effect === 'read' ? '' : ' It may have taken effect all the same.';
}
