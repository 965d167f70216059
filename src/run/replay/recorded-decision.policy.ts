import type { CallPlan } from './call-plan.types.js';

type Json = Readonly<Record<string, unknown>>;
type Steps = ReadonlyMap<string, { readonly result: unknown }>;

/**
 * The decision about a call by the journal; undefined if the journal does not show it.
 * @param steps recorded steps by name, with parsed results
 * @param plan the present decision
 */
export function recordedDecision(steps: Steps, plan: CallPlan): CallPlan['decision'] | undefined {
  const place = plan.step.slice('tool:'.length);
  const resultOf = (name: string) => (steps.get(name)?.result ?? {}) as Json;
  // The arguments of a person may need no approval.
  if (resultOf(`answer:approval:${place}`)['arguments'] !== undefined) return undefined;
  if (steps.has(`value:approval:${place}`)) return 'approval';
  const policy = resultOf(`policy:${place}`);
  if (policy['kind'] === 'rejected') return isLimit(policy) ? undefined : 'rejected';
  // An earlier approval of the session may have covered the call.
  if (policy['kind'] === 'run' && plan.isCoverable) return undefined;
  return byResult(resultOf(plan.step));
}

/** A failed call does not show whether its tool was called, except for arguments that do not fit its schema. */
function byResult({ success, code, error }: Json): CallPlan['decision'] | undefined {
  if (success === true) return 'run';
  const isInvalid = code === 'TOOL_INVALID_ARGUMENTS' && String(error).startsWith('Invalid arguments: ');
  return isInvalid ? 'rejected' : undefined;
}

/** Whether a rate limit rejected the call: it depends on other calls. */
function isLimit({ result }: Json): boolean {
  return (result as Json | undefined)?.['code'] === 'TOOL_RATE_LIMITED';
}
