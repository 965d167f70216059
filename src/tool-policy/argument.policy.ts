import { type CheckedCall, type PolicyDecision, type ToolContext, ToolPolicy } from '../tool/index.js';
import { rulesOf } from './tool-list.policy.js';
import type { CompiledCheck } from './compiled-policy.factory.js';
import type { SecurityPolicies } from './security-policies.registry.js';

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
