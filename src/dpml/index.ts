/** Agents and workflows as files: XML or JSON texts become definitions, and folders of them are kept up with. */
export { AgentFiles } from './agent-files.service.js';
export { parseAgent } from './agent.parser.js';
export type { ParseAgentOptions } from './agent.parser.js';
export { DpmlModule } from './dpml.module.js';
export { WorkflowFiles } from './workflow-files.service.js';
