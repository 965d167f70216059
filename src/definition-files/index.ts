/** Agents and workflows as files: parses XML or JSON definitions and follows folders of them. */
export { AgentFiles } from './agent-files.service.js';
export { parseAgent } from './agent.parser.js';
export type { ParseAgentOptions } from './agent.parser.js';
export { DefinitionFilesModule } from './definition-files.module.js';
export { WorkflowFiles } from './workflow-files.service.js';
