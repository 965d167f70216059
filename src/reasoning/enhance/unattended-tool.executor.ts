import {
  type CallSite,
  type CheckedCall,
  failedResult,
  type Invoked,
  type InvokeOptions,
  type PlannedCall,
  type RequestedCall,
  type Tool,
  ToolExecutor,
} from '../../tool/index.js';

const UNATTENDED = 'no person can be asked here. Continue without the call.';

/** Executes tools without human decisions: a call that would wait for a person gets an error for the model. */
export class UnattendedToolExecutor extends ToolExecutor {
  override async plan(
    call: RequestedCall,
    tools: ReadonlyMap<string, Tool>,
    site: CallSite,
  ): Promise<Exclude<PlannedCall, { kind: 'approval' }>> {
    const planned = await super.plan(call, tools, site);
    if (planned.kind !== 'approval') return planned;
    const error = `Not executed: a person must agree to it first (${planned.reason}), and ${UNATTENDED}`;
    const result = failedResult(call.name, 'TOOL_DENIED', error);
    return { kind: 'rejected', result, ...(planned.notes && { notes: planned.notes }) };
  }

  override async invoke(call: CheckedCall, site: CallSite, options?: InvokeOptions): Promise<Invoked> {
    const invoked = await super.invoke(call, site, options);
    const { name } = call.tool.definition;
    switch (invoked.kind) {
      case 'result':
        return invoked;
      case 'unknown':
        return { kind: 'result', result: failedResult(name, 'TOOL_OUTCOME_UNKNOWN', invoked.reason) };
      case 'suspended': {
        const error = `The tool asks a person ${JSON.stringify(invoked.suspension.question)}, and ${UNATTENDED}`;
        return { kind: 'result', result: failedResult(name, 'TOOL_FAILED', error) };
      }
    }
  }
}
