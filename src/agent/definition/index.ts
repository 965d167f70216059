/** Definitions of agents: their schema, checks, sources and registry. */
export { agentDefinitionSchema, DEFAULT_EXPIRY_MS } from './agent-definition.schema.js';
export type { AgentDefinition, AgentDefinitionInput } from './agent-definition.schema.js';
export { AgentSources } from './agent-sources.registry.js';
export { AgentCheckService, type AgentFault } from './agent-check.service.js';
export { AgentRegistry } from './agent.registry.js';
export type { DeclaredAgent } from './agent.registry.js';
export { ENVIRONMENT } from './default-agent.factory.js';
export type { RegisteredAgent } from './agent.registry.js';
