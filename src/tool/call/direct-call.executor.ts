import { AppError, messageOf } from '../../common/index.js';
import { Suspension, UnknownOutcome } from '../suspension.factory.js';
import type { CallSite, CheckedCall, Tool } from '../tool.types.js';
import { callBounded } from './bounded-call.executor.js';
import type { StatefulCall } from '../state/stateful-call.executor.js';
import type { ToolStates } from '../state/tool-states.service.js';
import { ToolRequest } from './tool-request.factory.js';

/**
 * Calls a tool outside of a run and gives what it returned, as it is. Throws `TOOL_INVALID_ARGUMENTS`, `TOOL_FAILED`
 * with what the tool threw as its cause, `TOOL_TIMEOUT`, and `TOOL_CANCELLED` when the context's signal is aborted.
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
  const { name } = tool.definition;
  const details = { tool: name };
  const outcome = await callBounded(
    (signal) => tool.invoke(input, new ToolRequest(call, site, signal, held?.handle)),
    site.signal,
    tool.metadata.timeoutMs,
  );
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
  const message = `Tool "${tool}" cannot tell whether its call has happened: ${reason}`;
  return new AppError('TOOL_OUTCOME_UNKNOWN', message, { details: { tool } });
}
