import type { AgentConfig, LlmConfig } from '../../config/namespaces/index.js';
import type { AgentDefinitionInput } from './agent-definition.schema.js';

/** Source of the agent of the environment: a file may replace that agent. */
export const ENVIRONMENT = 'the environment';

/** Changes to the agent of the environment. */
export type DefaultAgentChanges = Partial<Omit<AgentDefinitionInput, 'model'>> & {
  readonly model?: Partial<AgentDefinitionInput['model']>;
};

/**
 * The agent of the environment with changes. A change of the provider selects that provider's default model, unless the
 * change names a model.
 */
export function changedAgent(
  config: AgentConfig,
  llm: LlmConfig,
  { model: change, ...changes }: DefaultAgentChanges = {},
): AgentDefinitionInput {
  const { model, ...agent } = defaultAgent(config, llm);
  const { name: _name, capabilities: _capabilities, ...others } = model;
  const isOther = change?.provider !== undefined && change.provider !== model.provider;
  return { ...agent, ...changes, model: { ...(isOther || change?.name !== undefined ? others : model), ...change } };
}

/** The agent that the environment describes: all tools, the configured model and limits. */
function defaultAgent(agent: AgentConfig, llm: LlmConfig): AgentDefinitionInput {
  return {
    name: agent.name,
    ...(agent.instructions !== undefined && { instructions: agent.instructions }),
    model: {
      provider: llm.provider,
      ...(llm.model !== undefined && { name: llm.model }),
      ...(llm.capabilities && { capabilities: llm.capabilities }),
      parameters: llm.parameters,
    },
    protocol: llm.protocol,
    skills: [...agent.skills],
    memory: agent.memory,
    limits: {
      maxIterations: agent.maxIterations,
      runTimeoutMs: agent.runTimeoutMs,
      maxResultBytes: agent.maxResultBytes,
      maxDepth: agent.maxDepth,
      maxTools: agent.maxTools,
      maxToolTokens: agent.maxToolTokens,
    },
  };
}
