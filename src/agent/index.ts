/** Agents: who they are, how one is asked, and what came of it. */
export type { AgentDefinition, AgentDefinitionInput } from './agent-definition.schema.js';
export { AgentDecisionService } from './agent-decision.service.js';
export type { Approval, Denial, Input, Settlement } from './agent-decision.service.js';
export { AgentForkService } from './agent-fork.service.js';
export type { AgentChanges, ForkEdit, ForkRequest } from './agent-fork.types.js';
export { AgentModelFactory } from './agent-model.factory.js';
export { AgentModule } from './agent.module.js';
export type { AgentModuleOptions } from './agent.module.js';
export { AgentRegistry } from './agent.registry.js';
export { AgentService } from './agent.service.js';
export type { StreamedChat } from './agent.service.js';
export type { GivenFormat } from './response-format.mapper.js';
export { toRunError } from './run.error.js';
export type { AgentRequest, AgentStep, AnsweredTool, BackgroundRequest, RunAnswer } from './agent.types.js';
export { UserErasureService } from './user-erasure.service.js';
export type { Erasure } from './user-erasure.service.js';
