import type { Guardrails } from './guardrails.types.js';
import { anyPattern } from './name-pattern.parser.js';

/** Restrictions of one agent, in addition to those of the security policy. */
export interface AgentRules {
  /** Name of the agent, for messages. */
  readonly agent: string;
  readonly guardrails: Guardrails | null;
  /** Whether every call of a tool needs approval, whatever the tool itself declares. */
  readonly needsApproval: ((tool: string) => boolean) | null;
}

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
