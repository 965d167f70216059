import type { Guardrails } from './guardrails.types.js';
import { anyPattern } from './name-pattern.parser.js';

/** What one agent may not do, beside what no agent may. */
export interface AgentRules {
  /** The agent's, for messages. */
  readonly agent: string;
  readonly guardrails: Guardrails | null;
  /** Whether every call of a tool needs a person, whatever the tool says itself. */
  readonly needsApproval: ((tool: string) => boolean) | null;
}

/** What an agent's definition says of it. */
export interface GivenRules {
  readonly name: string;
  readonly guardrails?: Guardrails | undefined;
  /** Names of tools, with `*` for any characters. */
  readonly approvals: readonly string[];
}

/** @returns nothing for an agent that has no rules of its own */
export function agentRules({ name: agent, guardrails, approvals }: GivenRules): AgentRules | undefined {
  if (!guardrails && approvals.length === 0) return undefined;
  return { agent, guardrails: guardrails ?? null, needsApproval: approvals.length > 0 ? anyPattern(approvals) : null };
}
