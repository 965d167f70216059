import { nearNames } from '../kernel/text/index.js';
import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { AgentCheckService, AgentRegistry, type AgentDefinitionInput } from '../agent/definition/index.js';
import { AppError, messageOf } from '../errors/index.js';
import { ToolRegistry } from '../tool/index.js';
import { CodeRegistry } from './code/code.registry.js';
import type { WorkDefinition } from './definition/node.schema.js';
import type { WorkflowMistake } from './graph/workflow-graph.factory.js';
import { type RegisteredWorkflow, WorkflowRegistry } from './workflow.registry.js';

/** Fails the boot when a workflow names a missing model, tool, agent or code. */
@Injectable()
export class WorkflowCheckService implements OnApplicationBootstrap {
  constructor(
    private readonly workflows: WorkflowRegistry,
    private readonly agents: AgentRegistry,
    private readonly agentCheck: AgentCheckService,
    private readonly tools: ToolRegistry,
    private readonly code: CodeRegistry,
  ) {}

  /**
   * Runs after all modules have initialised, because the application's tools are registered by then.
   * @throws AppError `WORKFLOW_INVALID`
   */
  onApplicationBootstrap(): void {
    const mistakes = this.workflows.names().flatMap((name) => this.mistakesOf(name));
    if (mistakes.length > 0) throw new AppError('WORKFLOW_INVALID', mistakes.join('\n'));
  }

  /** References of a workflow that cannot be resolved. */
  missingOf({ graph }: RegisteredWorkflow): WorkflowMistake[] {
    return graph.definition.nodes.flatMap((node) => {
      const work = node.type === 'map' ? node.node : node;
      const missing = work.type === 'branch' ? [] : this.missing(work);
      return missing.map((message) => ({ message, node: node.id }));
    });
  }

  private mistakesOf(name: string): string[] {
    try {
      const missing = this.missingOf(this.workflows.get(name));
      return missing.map(({ message, node }) => `Workflow "${name}", node "${node}": ${message}`);
    } catch (error) {
      return [messageOf(error)];
    }
  }

  private missing(work: WorkDefinition): string[] {
    switch (work.type) {
      case 'agent':
        return typeof work.agent === 'string'
          ? thrown(() => this.agents.get(work.agent as string))
          : this.agentCheck.mistakes(this.agents.define(work.agent as unknown as AgentDefinitionInput).definition);
      case 'tool':
        // Tools of servers that are still connecting are not reported.
        return thrown(() => this.tools.select([work.tool]));
      case 'code':
        return this.code.find(work.code) ? [] : [this.noCode(work.code)];
      case 'llm':
      case 'human':
        return [];
    }
  }

  private noCode(name: string): string {
    const near = nearNames(name, this.code.names());
    const hint = near.length > 0 ? ` Did you mean ${near.map((one) => `"${one}"`).join(' or ')}?` : '';
    return `no method bears @WorkflowCode({ name: ${JSON.stringify(name)} }).${hint}`;
  }
}

function thrown(check: () => unknown): string[] {
  try {
    check();
    return [];
  } catch (error) {
    return [messageOf(error)];
  }
}
