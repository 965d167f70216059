import { type DynamicModule, Global, Module } from '@nestjs/common';
import { type AsyncOption, provided } from '../kernel/index.js';
import { AgentFiles, DeclaredAgentFiles } from './agent-files.service.js';
import { DeclaredWorkflowFiles, WorkflowFiles } from './workflow-files.service.js';

/** Agents and workflows defined in files. */
@Global()
@Module({})
export class DefinitionFilesModule {
  /**
   * @param agents folder of the agents' files, overriding the environment
   * @param workflows the same for workflows
   */
  static forRoot(
    agents: DeclaredAgentFiles | AsyncOption<DeclaredAgentFiles>,
    workflows: DeclaredWorkflowFiles | AsyncOption<DeclaredWorkflowFiles>,
  ): DynamicModule {
    return {
      module: DefinitionFilesModule,
      providers: [
        provided(DeclaredAgentFiles, agents),
        AgentFiles,
        provided(DeclaredWorkflowFiles, workflows),
        WorkflowFiles,
      ],
      exports: [AgentFiles, WorkflowFiles],
    };
  }
}
