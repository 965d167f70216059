import { Injectable } from '@nestjs/common';
import { HealthIndicatorService, type HealthIndicatorResult } from '@nestjs/terminus';
import { AgentFiles, WorkflowFiles } from '../dpml/index.js';

/** How it stands with the files of agents and workflows. */
@Injectable()
export class DefinitionFilesIndicator {
  constructor(
    private readonly indicators: HealthIndicatorService,
    private readonly agents: AgentFiles,
    private readonly workflows: WorkflowFiles,
  ) {}

  /** Nothing of those that there are none of; with one that is not taken, its agent or workflow is as before. */
  check(): HealthIndicatorResult[] {
    const folders = [
      ['agent_files', this.agents.state],
      ['workflow_files', this.workflows.state],
    ] as const;
    return folders.flatMap(([name, state]) => {
      if (!state) return [];
      const { files, broken, isReadable } = state;
      // Which they are, and why, the log tells.
      return [this.indicators.check(name).up({ files, broken, ...(!isReadable && { is_readable: false }) })];
    });
  }
}
