import { AsyncLocalStorage } from 'node:async_hooks';
import type { StatefulCall } from '../stateful/stateful-calls.js';
import type { CallSite, CheckedCall, Tool } from '../tool.types.js';
import type { CallPlace } from './call-place.policy.js';
import { ToolRequest } from './tool-request.factory.js';

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
