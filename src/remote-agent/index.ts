/** Agents of other servers that speak A2A, as tools: a task is sent once, and continued by its id. */
export { RemoteAgentModule } from './remote-agent.module.js';
export type { RemoteAgentDeclaration } from './remote-agent.types.js';
