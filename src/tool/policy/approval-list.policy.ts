import { rulesOf } from '../call/tool-request.factory.js';
import type { CheckedCall, ToolContext } from '../tool.types.js';
import { ToolPolicy, type PolicyDecision } from './tool-policy.js';

/** Has a person look at the calls for which an agent's definition wants that. */
export class ApprovalListPolicy extends ToolPolicy {
  readonly name = 'approvals';

  override concerns({ tool }: CheckedCall, context: ToolContext): boolean {
    return rulesOf(context)?.needsApproval?.(tool.definition.name) === true;
  }

  decide(_call: CheckedCall, { agent }: ToolContext): PolicyDecision {
    return { approve: `Every call of this tool by the agent "${agent}" needs approval.` };
  }
}
