import { type DynamicModule, Global, Module } from '@nestjs/common';
import { type AsyncOption, provided } from '../kernel/nest/index.js';
import { AgentFiles, DeclaredAgentFiles } from './agent-files.service.js';
import { DeclaredSkillFiles, SkillFiles } from './skill-files.service.js';
import { DeclaredWorkflowFiles, WorkflowFiles } from './workflow-files.service.js';

/** Agents, workflows and skills defined in files. */
@Global()
@Module({})
export class DefinitionFilesModule {
  /**
   * @param agents folder of the agents' files, overriding the environment
   * @param workflows the same for workflows
   * @param skills the same for skills
   */
  static forRoot(
    agents: DeclaredAgentFiles | AsyncOption<DeclaredAgentFiles>,
    workflows: DeclaredWorkflowFiles | AsyncOption<DeclaredWorkflowFiles>,
    skills: DeclaredSkillFiles | AsyncOption<DeclaredSkillFiles>,
  ): DynamicModule {
    return {
      module: DefinitionFilesModule,
      providers: [
        provided(DeclaredAgentFiles, agents),
        AgentFiles,
        provided(DeclaredWorkflowFiles, workflows),
        WorkflowFiles,
        provided(DeclaredSkillFiles, skills),
        SkillFiles,
      ],
      exports: [AgentFiles, WorkflowFiles, SkillFiles],
    };
  }
}
