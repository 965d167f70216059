import { AppError, messageOf, type ErrorCode } from '../../common/index.js';
import { Suspension, UnknownOutcome } from '../suspension.factory.js';
import type { CallSite, CheckedCall, Tool, ToolDefinition } from '../tool.types.js';
import { callBounded, type CallOutcome } from './bounded-call.executor.js';
import { enterPlace, isQueueTimeout, type CallPlace } from './call-place.policy.js';
import { cancelledBeforeStart } from './tool-result.factory.js';
import type { StatefulCall } from '../state/stateful-call.executor.js';
import type { ToolStates } from '../state/tool-states.service.js';
import { ToolRequest } from './tool-request.factory.js';

/**
 * Calls a tool outside of a run and returns its result unchanged.
 * @throws AppError `TOOL_INVALID_ARGUMENTS`, `TOOL_FAILED` with the tool's error as its cause, `TOOL_TIMEOUT`,
 * `TOOL_OUTCOME_UNKNOWN`, and `TOOL_CANCELLED` if the signal is aborted
 */
export async function callDirectly(tool: Tool, args: unknown, site: CallSite, states: ToolStates): Promise<unknown> {
  const { name } = tool.definition;
  const details = { tool: name };
  const input = await tool.validate(args);
  if (!input.valid) {
    throw new AppError('TOOL_INVALID_ARGUMENTS', `Tool "${name}": invalid arguments: ${input.reason}`, { details });
  }
  if (tool.metadata.state) {
    return states.callAlone(tool, input.value, site, (held) => make({ tool, input: input.value }, site, held));
  }
  return make({ tool, input: input.value }, site);
}

async function make(call: CheckedCall, site: CallSite, held?: StatefulCall): Promise<unknown> {
  const { tool, input } = call;
  const recalled = tool.places && (await tool.recall?.(new ToolRequest(call, site)));
  if (recalled) return recalled.value;
  const place = await placeOf(call, site);
  const invokeTool = (signal: AbortSignal): unknown =>
    place.run(() => tool.invoke(input, new ToolRequest(call, site, signal, held?.handle.until(signal))));
  try {
    return valueOf(tool.definition, await callBounded(invokeTool, site.signal, tool.metadata.timeoutMs));
  } finally {
    place.close();
  }
}

/** @throws AppError `TOOL_TIMEOUT`, `TOOL_CANCELLED` if the call does not start */
async function placeOf({ tool }: CheckedCall, site: CallSite): Promise<CallPlace> {
  const { name } = tool.definition;
  try {
    return await enterPlace(tool, site.signal);
  } catch (error) {
    const [code, message] = isQueueTimeout(error) ? [error.code, error.message] : notStarted(name);
    throw new AppError(code, `Tool "${name}": ${message}`, { details: { tool: name } });
  }
}

function notStarted(tool: string): [ErrorCode, string] {
  const { code, error } = cancelledBeforeStart(tool);
  return [code, error];
}

function valueOf({ name }: ToolDefinition, outcome: CallOutcome): unknown {
  const details = { tool: name };
  switch (outcome.kind) {
    case 'returned':
      if (outcome.value instanceof Suspension) throw asksInVain(name);
      if (outcome.value instanceof UnknownOutcome) throw unknownOutcome(name, outcome.value);
      return outcome.value;
    case 'threw':
      throw new AppError('TOOL_FAILED', `Tool "${name}" failed: ${messageOf(outcome.error)}`, {
        cause: outcome.error,
        details,
      });
    case 'timed_out':
      throw new AppError('TOOL_TIMEOUT', `Tool "${name}" did not finish within ${outcome.timeoutMs} ms.`, { details });
    case 'cancelled':
      throw new AppError('TOOL_CANCELLED', `The call of tool "${name}" was cancelled.`, { details });
  }
}

function asksInVain(tool: string): AppError {
  const message = `Tool "${tool}" asks a person, and outside of a run nothing waits for an answer: call it in a run.`;
  return new AppError('TOOL_FAILED', message, { details: { tool } });
}

function unknownOutcome(tool: string, { reason }: UnknownOutcome): AppError {
  const message = `Tool "${tool}" does not know whether its call took effect: ${reason}`;
  return new AppError('TOOL_OUTCOME_UNKNOWN', message, { details: { tool } });
}
