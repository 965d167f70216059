import { Inject, Injectable } from '@nestjs/common';
import { ResolvedModelFactory } from '../agent/index.js';
import { AgentRegistry, type AgentDefinitionInput } from '../agent/definition/index.js';
import { llmConfig, type LlmConfig } from '../config/namespaces/index.js';
import type { ModelParameters, ParameterName } from '../llm/chat/index.js';
import type { WorkDefinition } from './definition/node.schema.js';

/** Default parameters of llm nodes. */
export const LLM_DEFAULTS = {
  temperature: 0.7,
  maxTokens: 1000,
  topP: 1,
  frequencyPenalty: 0,
  presencePenalty: 0,
} satisfies ModelParameters;

/** Default memory limits of an inline agent of a node. */
const SEED_LIMITS = { maxMessages: 50, maxContextTokens: 4000 };

/** Position of a node. */
interface NodePlace {
  readonly workflow: string;
  readonly node: string;
  readonly number: number;
}

/** Resolves omitted model settings of nodes from the server's configuration. */
@Injectable()
export class ResolvedWorkFactory {
  constructor(
    @Inject(llmConfig.KEY) private readonly config: LlmConfig,
    private readonly models: ResolvedModelFactory,
    private readonly agents: AgentRegistry,
  ) {}

  /** @throws AppError `AGENT_INVALID`, `CONFIG_INVALID` */
  create(work: WorkDefinition, place: NodePlace): WorkDefinition {
    const who = `Workflow "${place.workflow}", node "${place.node}"`;
    switch (work.type) {
      case 'llm':
        return { ...work, model: this.models.complete(toModel(work.model), LLM_DEFAULTS, who) };
      case 'agent':
        return typeof work.agent === 'string' ? work : { ...work, agent: this.agent(work.agent, place) };
      case 'tool':
      case 'code':
      case 'human':
        return work;
    }
  }

  /** An inline agent, with a name generated from the workflow and the node's number. */
  private agent(given: object, { workflow, number }: NodePlace): { [field: string]: unknown } {
    const name = `${workflow.slice(0, 56)}_node${number}`;
    const { provider, model: ownName } = this.config;
    const model = { provider, ...(ownName !== undefined && { name: ownName }) };
    const { memory } = given as Pick<AgentDefinitionInput, 'memory'>;
    const definition: AgentDefinitionInput = { model, ...given, memory: { ...SEED_LIMITS, ...memory }, name };
    return { ...this.agents.define(definition).definition };
  }
}

/** The parameters of a resolved llm node with their default values: its model may refuse them. */
export function defaultedParameters(parameters: ModelParameters): readonly ParameterName[] {
  const names = Object.keys(LLM_DEFAULTS) as (keyof typeof LLM_DEFAULTS)[];
  return names.filter((name) => parameters[name] === LLM_DEFAULTS[name]);
}

function toModel<M extends { readonly provider?: string | undefined }>({ provider, ...model }: M) {
  return { ...model, ...(provider !== undefined && { provider }) };
}
