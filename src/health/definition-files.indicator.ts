import { Injectable } from '@nestjs/common';
import { HealthIndicatorService, type HealthIndicatorResult } from '@nestjs/terminus';
import { AgentFiles, WorkflowFiles } from '../definition-files/index.js';

/** Status of the files of agents and workflows. */
@Injectable()
export class DefinitionFilesIndicator {
  constructor(
    private readonly indicators: HealthIndicatorService,
    private readonly agents: AgentFiles,
    private readonly workflows: WorkflowFiles,
  ) {}

  /**
   * Omits absent folders. A broken file does not count as down: its agent or workflow keeps its previous definition.
   */
  check(): HealthIndicatorResult[] {
    const folders = [
      ['agent_files', this.agents.state],
      ['workflow_files', this.workflows.state],
    ] as const;
    return folders.flatMap(([name, state]) => {
      if (!state) return [];
      const { files, broken, isReadable } = state;
      // The log names the files and the reasons.
      return [this.indicators.check(name).up({ files, broken, ...(!isReadable && { is_readable: false }) })];
    });
  }
}
