import { Module, type DynamicModule } from '@nestjs/common';
import { type AsyncOption, provided } from '../kernel/nest/index.js';
import { RunModule } from '../run/index.js';
import { SessionModule } from '../session/index.js';
import { ToolModule } from '../tool/index.js';
import { ToolStateModule } from '../tool-state/index.js';
import { CodeRegistry } from './code/code.registry.js';
import type { WorkflowInput } from './definition/workflow.schema.js';
import { AgentNodeExecutor } from './execution/agent-node.executor.js';
import { ChildAgentExecutor } from './execution/child-agent.executor.js';
import { HumanNodeExecutor } from './execution/human-node.executor.js';
import { LlmNodeExecutor } from './execution/llm-node.executor.js';
import { MapNodeExecutor } from './execution/map-node.executor.js';
import { NodeExecutor } from './execution/node.executor.js';
import { ToolNodeExecutor } from './execution/tool-node.executor.js';
import { ResolvedWorkFactory } from './resolved-work.factory.js';
import { WorkflowCheckService } from './workflow-check.service.js';
import { WorkflowForkService } from './workflow-fork.service.js';
import { WorkflowEngine } from './workflow.engine.js';
import { WorkflowHandler } from './workflow.handler.js';
import { WorkflowRegistry } from './workflow.registry.js';
import { WorkflowService } from './workflow.service.js';

/** Options for the application's workflows; type and injection token in one. */
export abstract class DeclaredWorkflows {
  /** In addition to those of files. */
  abstract readonly workflows: readonly WorkflowInput[];
}

@Module({})
export class WorkflowModule {
  static forRoot(declared: DeclaredWorkflows | AsyncOption<DeclaredWorkflows>): DynamicModule {
    return {
      module: WorkflowModule,
      global: true,
      imports: [ToolModule, ToolStateModule, RunModule, SessionModule],
      providers: [
        provided(DeclaredWorkflows, declared),
        ResolvedWorkFactory,
        {
          provide: WorkflowRegistry,
          useFactory: toRegistry,
          inject: [ResolvedWorkFactory, DeclaredWorkflows],
        },
        CodeRegistry,
        ChildAgentExecutor,
        LlmNodeExecutor,
        AgentNodeExecutor,
        ToolNodeExecutor,
        HumanNodeExecutor,
        NodeExecutor,
        MapNodeExecutor,
        WorkflowEngine,
        WorkflowHandler,
        WorkflowCheckService,
        WorkflowService,
        WorkflowForkService,
      ],
      exports: [WorkflowRegistry, WorkflowCheckService, WorkflowService, WorkflowForkService],
    };
  }
}

function toRegistry(work: ResolvedWorkFactory, { workflows }: DeclaredWorkflows): WorkflowRegistry {
  const registry = new WorkflowRegistry(work);
  for (const [index, workflow] of workflows.entries()) registry.register(workflow, `workflows[${index}]`);
  return registry;
}
