import { type DynamicModule, Global, Module } from '@nestjs/common';
import { type Later, provided } from '../common/index.js';
import { AgentFiles, DeclaredAgentFiles } from './agent-files.service.js';
import { DeclaredWorkflowFiles, WorkflowFiles } from './workflow-files.service.js';

/** The agents and workflows that stand in files. */
@Global()
@Module({})
export class DpmlModule {
  /** Each with the folder, where it is not the one that the environment says. */
  static forRoot(
    agents: DeclaredAgentFiles | Later<DeclaredAgentFiles>,
    workflows: DeclaredWorkflowFiles | Later<DeclaredWorkflowFiles>,
  ): DynamicModule {
    return {
      module: DpmlModule,
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
