import type { AppConfig } from '../config/index.js';
import type { AgentDefinitionInput } from './agent-definition.schema.js';

/** The agent that the environment describes: every tool, the configured model and limits. */
export function defaultAgent({ agent, llm }: AppConfig): AgentDefinitionInput {
  return {
    name: agent.name,
    ...(agent.instructions !== undefined && { instructions: agent.instructions }),
    model: {
      provider: llm.provider,
      ...(llm.model !== undefined && { name: llm.model }),
      parameters: llm.temperature === undefined ? {} : { temperature: llm.temperature },
    },
    protocol: llm.protocol,
    memory: agent.memory,
    limits: {
      maxIterations: agent.maxIterations,
      runTimeoutMs: agent.runTimeoutMs,
      maxResultBytes: agent.maxResultBytes,
    },
  };
}
