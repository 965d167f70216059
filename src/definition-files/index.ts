/** Agents, workflows and skills as files: parses definitions and follows folders of them. */
export { AgentFiles } from './agent-files.service.js';
export { parseAgent } from './agent.parser.js';
export type { ParseAgentOptions } from './agent.parser.js';
export { DefinitionFilesModule } from './definition-files.module.js';
export { SkillFiles } from './skill-files.service.js';
export { WorkflowFiles } from './workflow-files.service.js';
