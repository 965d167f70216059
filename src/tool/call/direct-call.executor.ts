import { AsyncLocalStorage } from 'node:async_hooks';
import { AppError, type ErrorCode } from '../../errors/index.js';
import { maskSecrets } from '../../kernel/text/index.js';
import { IllustratedResult, ShownResult } from '../result/illustrated-result.factory.js';
import type { StatefulCall, StatefulCalls } from '../stateful/stateful-calls.js';
import { Suspension, UnknownOutcome } from '../suspension.factory.js';
import type { CallSite, CheckedCall, Tool, ToolDefinition } from '../tool.types.js';
import { callBounded, type CallOutcome } from './bounded-call.executor.js';
import { type CallPlace, enterPlace, isQueueTimeout } from './call-place.policy.js';
import { thrownText } from './thrown-text.mapper.js';
import { ToolRequest } from './tool-request.factory.js';
import { cancelledBeforeStart } from '../result/tool-result.factory.js';

/** The call whose code is executing. */
export interface ExecutingCall {
  readonly tool: string;
  readonly runId: string;
}

type Code = (signal: AbortSignal) => unknown;

const storage = new AsyncLocalStorage<ExecutingCall>();

/**
 * The call to which the executing code belongs; undefined outside of calls. Timers, promises and events of a call
 * belong to it even after the call has ended.
 */
export function executingCall(): ExecutingCall | undefined {
  return storage.getStore();
}

/**
 * The code of a call, in its slot.
 * @param read converts the returned value before the slot is released
 */
export function invocationOf(
  call: CheckedCall,
  site: CallSite,
  place: CallPlace,
  held?: StatefulCall,
  read: (returned: unknown, signal: AbortSignal) => unknown = (returned) => returned,
): Code {
  const { tool, input } = call;
  return (signal) => {
    const request = new ToolRequest(call, site, signal, held?.handle.until(signal));
    return place.run(() => storage.run(request, () => read(tool.invoke(input, request), signal)));
  };
}

/** The code with which a tool determines the outcome of an earlier call. */
export function reconciliationOf(tool: Tool, site: CallSite, held?: StatefulCall): Code {
  return (signal) => {
    const request = new ToolRequest({ tool, input: null }, site, signal, held?.handle);
    return storage.run(request, () => tool.reconcile?.(site.key, request));
  };
}

/**
 * Calls a tool outside of a run and returns its result unchanged; with `retries` or `cacheTtlMs`, a response or stream
 * is returned as its content.
 * @param secrets values to mask in its error, in addition to secret-shaped texts
 * @throws AppError `TOOL_INVALID_ARGUMENTS`, `TOOL_FAILED` with the tool's error as its cause, `TOOL_TIMEOUT`,
 * `TOOL_OUTCOME_UNKNOWN`, and `TOOL_CANCELLED` if the signal is aborted
 */
export async function callDirectly(
  tool: Tool,
  args: unknown,
  site: CallSite,
  states: StatefulCalls,
  secrets: readonly string[],
): Promise<unknown> {
  const { name } = tool.definition;
  const details = { tool: name };
  const input = await tool.validate(args);
  if (!input.valid) {
    throw new AppError('TOOL_INVALID_ARGUMENTS', `Tool "${name}": invalid arguments: ${input.reason}`, { details });
  }
  const call = { tool, input: input.value };
  if (tool.metadata.state) {
    return states.callAlone(tool, input.value, site, (held) => make(call, site, secrets, held));
  }
  return make(call, site, secrets);
}

async function make(
  call: CheckedCall,
  site: CallSite,
  secrets: readonly string[],
  held?: StatefulCall,
): Promise<unknown> {
  const { tool } = call;
  const recalled = tool.places && (await tool.recall?.(new ToolRequest(call, site)));
  if (recalled) return recalled.value;
  const place = await placeOf(call, site);
  try {
    const invokeTool = invocationOf(call, site, place, held);
    return valueOf(tool.definition, await callBounded(invokeTool, site.signal, tool.metadata.timeoutMs), secrets);
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

function valueOf({ name }: ToolDefinition, outcome: CallOutcome, secrets: readonly string[]): unknown {
  const details = { tool: name };
  switch (outcome.kind) {
    case 'returned':
      if (outcome.value instanceof Suspension) throw asksInVain(name);
      if (outcome.value instanceof UnknownOutcome) throw unknownOutcome(name, outcome.value);
      return plain(outcome.value);
    case 'threw':
      throw new AppError('TOOL_FAILED', `Tool "${name}" failed: ${maskSecrets(thrownText(outcome.error), secrets)}`, {
        cause: outcome.error,
        details,
      });
    case 'timed_out':
      throw new AppError('TOOL_TIMEOUT', `Tool "${name}" did not finish within ${outcome.timeoutMs} ms.`, { details });
    case 'cancelled':
      throw new AppError('TOOL_CANCELLED', `The call of tool "${name}" was cancelled.`, { details });
  }
}

/** The value of a result; one with images stays as it is. Only a run stores binary content, which is a note here. */
function plain(value: unknown): unknown {
  if (value instanceof ShownResult) return plain(value.result);
  return value instanceof IllustratedResult && value.images.length === 0 ? value.result : value;
}

function asksInVain(tool: string): AppError {
  const message = `Tool "${tool}" asks a person, and outside of a run nothing waits for an answer: call it in a run.`;
  return new AppError('TOOL_FAILED', message, { details: { tool } });
}

function unknownOutcome(tool: string, { reason }: UnknownOutcome): AppError {
  const message = `Tool "${tool}" does not know whether its call took effect: ${reason}`;
  return new AppError('TOOL_OUTCOME_UNKNOWN', message, { details: { tool } });
}
