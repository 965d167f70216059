import { type AgentRules, anyPattern, type Guardrails, type ToolContext, ToolRequest } from '../tool/index.js';

/** The restrictions in an agent's definition. */
export interface GivenRules {
  readonly name: string;
  readonly guardrails?: Guardrails | undefined;
  /** Names of tools, with `*` for any characters. */
  readonly approvals: readonly string[];
}

/** @returns `undefined` for an agent without restrictions of its own */
export function agentRules({ name: agent, guardrails, approvals }: GivenRules): AgentRules | undefined {
  if (!guardrails && approvals.length === 0) return undefined;
  return { agent, guardrails: guardrails ?? null, needsApproval: approvals.length > 0 ? anyPattern(approvals) : null };
}

/** Rules of the calling agent; visible to policies only. */
export function rulesOf(context: ToolContext): AgentRules | undefined {
  return context instanceof ToolRequest ? context.rules : undefined;
}
