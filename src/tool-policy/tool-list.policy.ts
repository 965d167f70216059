import {
  type AgentRules,
  anyPattern,
  type CallSite,
  type CheckedCall,
  type Guardrails,
  type PolicyDecision,
  type Tool,
  type ToolContext,
  ToolPolicy,
  ToolRequest,
} from '../tool/index.js';
import type { CompiledRule } from './compiled-policy.factory.js';
import type { SecurityPolicies } from './security-policies.registry.js';

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

/** The caller of a tool: principal and agent. */
export type Caller = Pick<CallSite, 'agent' | 'principal' | 'rules'>;

/** Applies the tool lists of the security policy. */
export class ToolListPolicy extends ToolPolicy {
  readonly name = 'tools';

  constructor(private readonly policies: SecurityPolicies) {
    super();
  }

  override concerns(_call: CheckedCall, context: ToolContext): boolean {
    return rulesFor(this.policies, callerOf(context)).length > 0;
  }

  decide({ tool }: CheckedCall, context: ToolContext): PolicyDecision {
    const { name } = tool.definition;
    const rules = rulesFor(this.policies, callerOf(context));
    if (rules.some(({ deny }) => deny?.(name))) return { deny: `the security policy denies the tool "${name}"` };
    if (rules.every(({ allow }) => allow?.(name) ?? true)) return 'allow';
    return { deny: `the security policy does not allow the tool "${name}"` };
  }
}

/** Splits tools into allowed and denied ones; returns the same array if all are allowed. */
export function partTools(
  policies: SecurityPolicies,
  tools: readonly Tool[],
  caller: Caller,
): { readonly allowed: readonly Tool[]; readonly denied: readonly Tool[] } {
  const rules = rulesFor(policies, caller);
  const isDenied = ({ definition: { name } }: Tool) =>
    rules.some(({ allow, deny }) => deny?.(name) === true || allow?.(name) === false);
  const denied = rules.length === 0 ? [] : tools.filter(isDenied);
  return denied.length === 0 ? { allowed: tools, denied } : { allowed: tools.filter((one) => !isDenied(one)), denied };
}

function callerOf(context: ToolContext): Caller {
  const { agent, principal } = context;
  return { agent, principal, rules: rulesOf(context) };
}

function rulesFor(policies: SecurityPolicies, caller: Caller): readonly CompiledRule[] {
  const { rules } = policies.for(caller.rules);
  return rules.length === 0 ? rules : rules.filter((rule) => appliesTo(rule, caller));
}

function appliesTo({ agents, tenants, principals, roles }: CompiledRule, { agent, principal }: Caller): boolean {
  return (
    includesAny(agents, [agent ?? '']) &&
    includesAny(tenants, [principal.tenant]) &&
    includesAny(principals, [principal.id]) &&
    includesAny(roles, principal.roles)
  );
}

function includesAny(matcher: CompiledRule['agents'], names: readonly string[]): boolean {
  return matcher === null || names.some(matcher);
}
