import { Injectable } from '@nestjs/common';
import { HealthIndicatorService, type HealthIndicatorResult } from '@nestjs/terminus';
import { AgentFiles, SkillFiles, WorkflowFiles } from '../definition-files/index.js';

/** Status of the files of agents, workflows and skills. */
@Injectable()
export class DefinitionFilesIndicator {
  constructor(
    private readonly indicators: HealthIndicatorService,
    private readonly agents: AgentFiles,
    private readonly workflows: WorkflowFiles,
    private readonly skills: SkillFiles,
  ) {}

  /**
   * Omits absent folders. A broken file does not count as down: its agent, workflow or skill keeps its previous definition,
   * if it has one.
   */
  check(): HealthIndicatorResult[] {
    const folders = [
      ['agent_files', this.agents.state],
      ['workflow_files', this.workflows.state],
      ['skill_files', this.skills.state],
    ] as const;
    return folders.flatMap(([name, state]) => {
      if (!state) return [];
      const { files, broken, isReadable } = state;
      // Of agents and workflows the log names the files and the reasons: a broken one fails the start.
      const mistakes = 'mistakes' in state && broken > 0 && { mistakes: state.mistakes };
      const about = { files, broken, ...mistakes, ...(!isReadable && { is_readable: false }) };
      return [this.indicators.check(name).up(about)];
    });
  }
}
