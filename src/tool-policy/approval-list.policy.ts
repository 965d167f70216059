import { type CheckedCall, type PolicyDecision, type ToolContext, ToolPolicy } from '../tool/index.js';
import { rulesOf } from './tool-list.policy.js';

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
