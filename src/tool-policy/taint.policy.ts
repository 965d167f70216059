import { type DataFact, isPrivate, type WaitFact } from '../run/index.js';
import {
  type AgentRules,
  type CheckedCall,
  factsOf,
  type PolicyDecision,
  type TaintMode,
  type Tool,
  type ToolContext,
  ToolPolicy,
  type WaitCause,
} from '../tool/index.js';
import { rulesOf } from './tool-list.policy.js';
import type { CompiledPolicy } from './compiled-policy.factory.js';
import { hasForeignAddress } from './foreign-address.policy.js';
import type { SecurityPolicies } from './security-policies.registry.js';

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
