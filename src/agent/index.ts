/** Agents: definitions, requests, runs and answers; also direct tool calls. */

export { selectionOf, type ClientTool } from './offered-tools.service.js';
export { toQuestion } from './agent-memory.service.js';
export { outdatedTurn } from './outdated-turn.factory.js';
export { publishMasked } from './agent.handler.js';
export { ForkedRuns, AgentForkService } from './agent-fork.service.js';
export type { ForkEdit, ForkRequest } from './agent-fork.types.js';
export { ResolvedModelFactory } from './resolved-model.factory.js';
export { AgentModelFactory } from './agent-model.factory.js';
export { AgentModule } from './agent.module.js';
export type { AgentModuleOptions } from './agent.module.js';
export { SkillRegistry, type Skill } from './skills/skill.registry.js';
export { BudgetService } from './budget.service.js';
export { AgentService } from './agent.service.js';
export type { RunMessage } from './agent.service.js';
export type { StreamedChat } from './agent.service.js';
export { AGENT_RUN } from './sub-agent/sub-agent-tool.factory.js';
export type { SubAgentQuestion, SubAgentToolOptions } from './sub-agent/sub-agent-tool.factory.js';
export { toCallValue } from './direct-call/direct-call-value.mapper.js';
export { DirectCallService } from './direct-call/direct-call.service.js';
export type { DirectCallAnswer, DirectCallRequest } from './direct-call/direct-call.types.js';
export type { AgentRequest, AgentRunInput, BackgroundRequest, GivenConversation } from './agent.types.js';
export { Extension, type ExtensionHost, type OwnEventListener } from './extension.js';
export { UserErasureService } from './user-erasure.service.js';
export type { Erasure } from './user-erasure.service.js';
export type { GivenImage } from './agent.types.js';
