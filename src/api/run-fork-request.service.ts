import { Injectable } from '@nestjs/common';
import { AgentForkService } from '../agent/index.js';
import type { Principal } from '../kernel/index.js';
import { RunService } from '../run/index.js';
import { WORKFLOW_RUN, WorkflowForkService } from '../workflow/index.js';
import type { ForkRequestDto } from './run-fork.dto.js';
import { toForkRequest, toWorkflowFork } from './run-fork.mapper.js';

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
