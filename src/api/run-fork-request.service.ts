import { Injectable } from '@nestjs/common';
import { AgentForkService, type ForkEdit, type ForkRequest } from '../agent/index.js';
import { AppError } from '../errors/index.js';
import { fieldMistake, type Principal } from '../kernel/index.js';
import type { JsonValue } from '../kernel/json/index.js';
import { RunService } from '../run/index.js';
import { WORKFLOW_RUN, type WorkflowFork, WorkflowForkService } from '../workflow/index.js';
import type { ForkEditDto, ForkRequestDto } from './run-fork.dto.js';

/** Fork request of an agent run. @throws AppError `VALIDATION_FAILED` for a field that only workflows have */
function toForkRequest({ fromStep, sessionId, edit }: ForkRequestDto): ForkRequest {
  assertNone(edit, ['input', 'output'], 'a workflow');
  return {
    fromStep,
    ...(sessionId !== undefined && { sessionId }),
    // The agent module validates the parts when it builds the definition.
    ...(edit && { edit: edit as ForkEdit }),
  };
}

/** Fork request of a workflow run. @throws AppError `VALIDATION_FAILED` for a field that only agents have */
function toWorkflowFork({ fromStep, sessionId, edit }: ForkRequestDto): WorkflowFork {
  assertNone(edit, ['message', 'model', 'toolResult', 'agent'], 'an agent');
  return {
    fromStep,
    ...(sessionId !== undefined && { sessionId }),
    ...(edit?.input !== undefined && { input: edit.input }),
    ...(edit?.output !== undefined && { output: edit.output as JsonValue }),
  };
}

function assertNone(edit: ForkEditDto | undefined, fields: readonly (keyof ForkEditDto)[], whose: string): void {
  const field = fields.find((name) => edit?.[name] !== undefined);
  if (field === undefined) return;
  const message = `applies only to a run of ${whose}`;
  throw new AppError('VALIDATION_FAILED', `Invalid fork request: edit.${field} ${message}.`, {
    details: { errors: [fieldMistake(`edit.${field}`, message, 'isOfKind', edit?.[field])] },
  });
}

/** Forks runs of agents and workflows. */
@Injectable()
export class RunForkRequestService {
  constructor(
    private readonly runs: RunService,
    private readonly agents: AgentForkService,
    private readonly workflows: WorkflowForkService,
  ) {}

  /** @param id of the new run */
  async fork(principal: Principal, runId: string, body: ForkRequestDto, id: string): Promise<string> {
    const { kind } = await this.runs.get(principal, runId);
    if (kind === WORKFLOW_RUN) return this.workflows.fork(principal, runId, { ...toWorkflowFork(body), id });
    return this.agents.fork(principal, runId, { ...toForkRequest(body), id });
  }
}
