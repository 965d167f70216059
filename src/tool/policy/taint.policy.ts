import { rulesOf } from '../call/tool-request.factory.js';
import type { CheckedCall, ToolContext } from '../tool.types.js';
import type { TaintMode } from './guardrails.types.js';
import type { SecurityPolicies } from './security-policies.registry.js';
import { ToolPolicy, type PolicyDecision } from './tool-policy.js';

const READ = 'this run has read what strangers wrote, and the call can carry data out';

/** Lets a run that has read what strangers wrote carry nothing out without a person. */
export class TaintPolicy extends ToolPolicy {
  readonly name = 'taint';

  constructor(private readonly policies: SecurityPolicies) {
    super();
  }

  override concerns({ tool }: CheckedCall, context: ToolContext): boolean {
    return context.isTainted && tool.metadata.egress && this.modeFor(context) !== 'off';
  }

  decide(_call: CheckedCall, context: ToolContext): PolicyDecision {
    const taint = this.modeFor(context);
    if (taint === 'off') return 'allow';
    return taint === 'deny' ? { deny: READ } : { approve: `Needs approval: ${READ}.` };
  }

  private modeFor(context: ToolContext): TaintMode {
    return this.policies.for(rulesOf(context)).taint;
  }
}
