/** Chat and embedding models: their ports, message types, providers, wrappers, budgets and token counts. */
import { CreateBudget1764000000009 } from './budget/migrations/1764000000009-create-budget.migration.js';

export { budgetInUse } from './budget/budget.error.js';
export { ModelBudget, type Reservation } from './budget/model-budget.js';
export type { BudgetStatus, JournaledSpending, JournaledUsage, ReportedUsage } from './budget/model-budget.js';
export { toArgumentsText } from './wire/reply.parser.js';
export { Cassette } from './cassette/cassette.js';
export { MaskedLines } from './cassette/masked-lines.builder.js';
export { withoutPersonalData } from './cassette/personal-data.mapper.js';
export { ConfiguredCassette } from './cassette/configured-cassette.js';
export type { CassetteOptions } from './cassette/cassette.js';
export type { CassetteMode } from '../config/index.js';
export { ChatModel, ModelWrapper } from './chat-model.js';
export { ChatApiModel } from './wrappers/chat-api.wrapper.js';
export type {
  AgentBudgets,
  CallAccount,
  CallOptions,
  ChatRequest,
  ChatResult,
  ChatStreamPart,
  FinishReason,
  ModelCapabilities,
  ModelParameters,
  OwnBudget,
  ParameterLimits,
  ParameterName,
  ResponseFormat,
  ToolChoice,
  ToolSpec,
  Usage,
} from './chat.types.js';
export { configuredSettings, toLlmEnv, type LlmOptions } from './model-registry.factory.js';
export {
  contextWindowOf,
  defaultContextTokens,
  fromUnits,
  roundCost,
  toUnits,
  assertPriced,
  isCosted,
  isPriced,
} from './models/model-facts.js';
export { EmbeddingModel } from './embedding-model.js';
export type { EmbeddingResult } from './embedding-model.js';
export type { HttpClient } from './wire/wire.client.js';
export { canRead, fitImages, imageExcess, imagesOf, withoutImages, fitParameters } from './request-fit.policy.js';
export { LlmModule } from './llm.module.js';
export type {
  AssistantMessage,
  ContentPart,
  ImagePart,
  Message,
  SignedReasoning,
  SystemMessage,
  ToolCall,
  ToolMessage,
  UserMessage,
} from './message.types.js';
export { openModels } from './opened-models.js';
export type { OpenedModelChoice, OpenedModels, OpenModelsOptions } from './opened-models.js';
export type { ModelTrace, TracedCall } from './wrappers/traced-model.wrapper.js';
export { ModelFactory } from './model-factory.js';
export type { ModelSettings } from './model-settings.types.js';
export { KeyPoolRegistry } from './wrappers/key-pool.registry.js';
export { ModelStackFactory } from './wrappers/model-stack.factory.js';
export { ModelRegistry } from './model.registry.js';
export { bearerRoute, WireModelFactory } from './openai-wire/wire-model.factory.js';
export type { RouteTo, WireDialect, WireRoute } from './openai-wire/wire-dialect.types.js';
export { ModelProbe } from './probe/model-probe.js';
export { OwnProvidersModule } from './own-providers.module.js';
export { countMessages, estimateTokens } from './tokens/token-estimate.mapper.js';
export type { TokenCounter } from './tokens/token-counter.js';
export { isContextExceeded } from './wire/status-error.mapper.js';
export { describeFormat } from './tool-schema.mapper.js';
export { TokenCounterRegistry } from './tokens/token-counter.registry.js';

export const LLM_MIGRATIONS = [CreateBudget1764000000009];
export type { ModelOmission } from './wire/adaptation.registry.js';
export type { ModelSwitch } from './chat.types.js';
export type { ImageLimits } from './chat.types.js';
