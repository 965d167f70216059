/** Agents: definitions, requests, runs and answers; also direct tool calls. */
export { agentDefinitionSchema, DEFAULT_EXPIRY_MS } from './agent-definition.schema.js';
export type { AgentDefinition, AgentDefinitionInput } from './agent-definition.schema.js';
export { selectionOf, type ClientTool } from './offered-tools.service.js';
export { AgentSources } from './agent-sources.registry.js';
export { AgentCheckService, type AgentFault } from './agent-check.service.js';
export { AgentDecisionService } from './agent-decision.service.js';
export type { Approval, Denial, Input } from './agent-decision.service.js';
export type { GivenDecision, Settlement } from './personal-verdict.factory.js';
export { toQuestion } from './agent-memory.service.js';
export { outdatedTurn } from './outdated-turn.factory.js';
export { publishMasked } from './agent.handler.js';
export { ForkedRuns, AgentForkService } from './agent-fork.service.js';
export type { ForkEdit, ForkRequest } from './agent-fork.types.js';
export { ResolvedModelFactory } from './resolved-model.factory.js';
export { AgentModelFactory } from './agent-model.factory.js';
export { AgentModule } from './agent.module.js';
export type { AgentModuleOptions } from './agent.module.js';
export { AgentRegistry } from './agent.registry.js';
export type { DeclaredAgent } from './agent.registry.js';
export { SkillRegistry, type Skill } from './skills/skill.registry.js';
export { BudgetService } from './budget.service.js';
export { ENVIRONMENT } from './default-agent.factory.js';
export { AgentService } from './agent.service.js';
export type { RunMessage } from './agent.service.js';
export type { StreamedChat } from './agent.service.js';
export { AGENT_RUN } from './sub-agent/sub-agent-tool.factory.js';
export type { SubAgentQuestion, SubAgentToolOptions } from './sub-agent/sub-agent-tool.factory.js';
export { toCallValue } from './direct-call/direct-call-value.mapper.js';
export { DirectCallService } from './direct-call/direct-call.service.js';
export type { DirectCallAnswer, DirectCallRequest } from './direct-call/direct-call.types.js';
export { asSchemaOutput } from './schema-output.mapper.js';
export type { GivenFormat } from './response-format.mapper.js';
export { toErrorCode, toRunError } from './run.error.js';
export { RunText, StreamRestartedError, textOf } from './text-stream.mapper.js';
export type {
  AgentRequest,
  AgentRunInput,
  AgentStep,
  AnsweredNode,
  AnsweredTool,
  BackgroundRequest,
  GivenConversation,
  RunAnswer,
} from './agent.types.js';
export { Extension, type ExtensionHost, type OwnEventListener } from './extension.js';
export { RunDatasetService } from './run-dataset.service.js';
export { RunHistoryService } from './run-history.service.js';
export { RunSearchService } from './run-search.service.js';
export type { ShownWait } from './run-search.service.js';
export type { FollowedRun, PageRequest, RunPosition, UsageReport } from './run-history.service.js';
export type { JournalEvent, JournalStep, RunJournalPage } from './run-history.mapper.js';
export { UserErasureService } from './user-erasure.service.js';
export type { Erasure } from './user-erasure.service.js';
export type { RegisteredAgent } from './agent.registry.js';
export type { GivenImage } from './agent.types.js';
