import { Injectable } from '@nestjs/common';
import type { AgentDefinitionInput } from '../../agent/definition/index.js';
import type { JsonValue } from '../../kernel/json/index.js';
import type { Work } from '../definition/node.schema.js';
import { compileTemplate, fillText, type Scope } from '../template/template.parser.js';
import { ChildAgentExecutor } from './child-agent.executor.js';
import { failedNode, type NodeAnswer } from './node-outcome.factory.js';
import type { NodeOutcome, NodeTask, WorkExecutor } from './node-task.types.js';

/** Executes agent nodes: asks an agent in a child run. */
@Injectable()
export class AgentNodeExecutor implements WorkExecutor<Work<'agent'>> {
  constructor(private readonly agents: ChildAgentExecutor) {}

  async execute({ agent, message, onIncomplete }: Work<'agent'>, task: NodeTask): Promise<NodeOutcome> {
    const query = message === undefined ? inputText(task.scope) : fillText(compileTemplate(message), task.scope);
    if (query.trim() === '') return failedNode('VALIDATION_FAILED', 'Message or query is required');
    const request = { query, isStreaming: true, onIncomplete };
    if (typeof agent === 'string') {
      const settings = settingsOf('', `the agent "${agent}"`);
      return this.agents.ask({ ...request, name: agent, subject: `The agent "${agent}"`, settings }, task, 'agent');
    }
    // The registry has set the name of the inline definition.
    const definition = agent as unknown as AgentDefinitionInput;
    const own = { name: definition.name, definition, subject: 'Its agent', settings: settingsOf('agent.', 'the node') };
    return this.agents.ask({ ...request, ...own }, task, 'agent');
  }
}

/** The settings that limit an agent's answer, for error messages. */
function settingsOf(prefix: string, owner: string): NodeAnswer['settings'] {
  return {
    length: `"${prefix}model.parameters.maxTokens" of ${owner}`,
    iteration_limit: `"${prefix}limits.maxIterations" of ${owner}`,
  };
}

/** Default user message, from the workflow input. */
export function inputText({ input }: Scope): string {
  const { message, query } = (input ?? {}) as { readonly message?: JsonValue; readonly query?: JsonValue };
  const text = message ?? query ?? '';
  return typeof text === 'string' ? text : JSON.stringify(text);
}
