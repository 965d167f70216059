import { type DataFact, isPrivate, type WaitFact } from '../run/facts/index.js';
import { anyPattern, type CallSite, type CheckedCall } from '../tool/index.js';
import { factsOf, ToolRequest } from '../tool/call/index.js';
import {
  type AgentRules,
  type Guardrails,
  type PolicyDecision,
  type TaintMode,
  ToolPolicy,
  type WaitCause,
} from '../tool/decision/index.js';
import type { Tool, ToolContext } from '../tool/method/index.js';
import type { CompiledCheck, CompiledPolicy, CompiledRule } from './compiled-policy.factory.js';
import { hasForeignAddress } from './foreign-address.policy.js';
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

/** Requires approval for the tools that an agent's definition lists. */
export class ApprovalListPolicy extends ToolPolicy {
  readonly name = 'approvals';

  override concerns({ tool }: CheckedCall, context: ToolContext): boolean {
    return rulesOf(context)?.needsApproval?.(tool.definition.name) === true;
  }

  decide(_call: CheckedCall, { agent }: ToolContext): PolicyDecision {
    return { approve: `Every call of this tool by the agent "${agent}" needs approval.` };
  }
}

/** Denies calls whose arguments violate the security policy, including arguments edited by an approver. */
export class ArgumentPolicy extends ToolPolicy {
  readonly name = 'arguments';

  constructor(private readonly policies: SecurityPolicies) {
    super();
  }

  override concerns(call: CheckedCall, context: ToolContext): boolean {
    return this.checksOf(call, context).length > 0;
  }

  async decide(call: CheckedCall, context: ToolContext): Promise<PolicyDecision> {
    for (const { check } of this.checksOf(call, context)) {
      const verdict = await check(call.input as Readonly<Record<string, unknown>>, context);
      if (verdict === true) continue;
      const why = typeof verdict === 'string' && verdict !== '' ? `: ${verdict}` : '';
      return { deny: `the security policy does not allow these arguments${why}` };
    }
    return 'allow';
  }

  private checksOf({ tool }: CheckedCall, context: ToolContext): readonly CompiledCheck[] {
    const { checks } = this.policies.for(rulesOf(context));
    return checks.length === 0 ? checks : checks.filter(({ matches }) => matches(tool.definition.name));
  }
}

const UNTRUSTED = 'this run has read untrusted content';
const OUT = 'this call can carry data out or change something';

/**
 * The rule of three facts: a call waits if its run contains untrusted content and private data, and the call can carry
 * data out. Under the rule `strict` private data is not necessary.
 */
export class TaintPolicy extends ToolPolicy {
  readonly name = 'taint';

  /** @param rules of the calling agent; by default those of the call */
  constructor(
    private readonly policies: SecurityPolicies,
    private readonly rules?: AgentRules,
  ) {
    super();
  }

  override concerns({ tool, input }: CheckedCall, context: ToolContext): boolean {
    const { taint, taintRule } = this.policyOf(context);
    if (!context.isTainted || taint === 'off') return false;
    if (taintRule === 'strict') return tool.metadata.egress || tool.metadata.isEgressIfStrict === true;
    if (!tool.metadata.egress) return false;
    const facts = factsOf(context);
    return (isPrivate(facts) || isPrivateTool(tool)) && !isReadingOn(tool, input, facts);
  }

  decide({ tool }: CheckedCall, context: ToolContext): PolicyDecision {
    const { taint, taintRule } = this.policyOf(context);
    if (taint === 'off') return 'allow';
    const reason = taintRule === 'strict' ? `${UNTRUSTED}, and ${OUT}` : `${UNTRUSTED} and private data, and ${OUT}`;
    if (taint === 'deny') return { deny: reason };
    return { approve: `Needs approval: ${reason}.`, because: causeOf(tool, context, taintRule), isCoverable: true };
  }

  private policyOf(context: ToolContext): { taint: TaintMode } & Pick<CompiledPolicy, 'taintRule'> {
    return this.policies.for(this.rules ?? rulesOf(context));
  }
}

function isPrivateTool({ metadata }: Tool): boolean {
  return metadata.private !== false;
}

/** Whether the call only reads from the server to which all private data of the run belongs. */
function isReadingOn({ metadata: { origin } }: Tool, input: unknown, facts: readonly DataFact[]): boolean {
  if (!origin?.isReadOnly) return false;
  const isOwn = facts.every((one) => one.fact !== 'private' || one.origin === origin.name);
  return isOwn && !hasForeignAddress(input, origin.hosts);
}

function causeOf(tool: Tool, context: ToolContext, rule: CompiledPolicy['taintRule']): WaitCause {
  const { name } = tool.definition;
  const { origin } = tool.metadata;
  const step = context.key.startsWith(`${context.runId}:`) ? context.key.slice(context.runId.length + 1) : context.key;
  const call = { step, tool: name, ...(origin && { origin: origin.name }) };
  const known = factsOf(context).filter(({ fact }) => rule === 'facts' || fact === 'untrusted');
  const own: WaitFact[] = rule === 'facts' && !isPrivate(known) ? [{ fact: 'private', ...call }] : [];
  const facts: readonly WaitFact[] = [...known, ...own, { fact: 'out', ...call }];
  const settings = facts.flatMap((one) => settingOf(one) ?? []);
  const general = ['`taint` of the policy', ...(rule === 'strict' ? ['`TAINT_RULE` or `taintRule`'] : [])];
  return { facts, settings: [...new Set([...settings, ...general])] };
}

const OPTIONS: Readonly<Record<WaitFact['fact'], string>> = {
  untrusted: '`untrusted: false`',
  private: '`private: false`',
  out: '`egress: false`',
};

/** The setting without which the fact would not hold; undefined if no tool is its source. */
function settingOf({ fact, tool, origin }: WaitFact): string | undefined {
  if (origin !== undefined) return `${OPTIONS[fact]} of ${origin}`;
  return tool === undefined ? undefined : `${OPTIONS[fact]} of the tool "${tool}"`;
}
