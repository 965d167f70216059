/** Chat and embedding models: their ports, message types, providers, wrappers, budgets and token counts. */
import { CreateBudget1764000000009 } from './budget/migrations/1764000000009-create-budget.migration.js';

export { toArgumentsText } from './wire/reply.parser.js';
export { ChatApiModel } from './wrappers/chat-api.wrapper.js';
export { configuredSettings, toLlmEnv, type LlmOptions } from './model-registry.factory.js';
export { EmbeddingModel } from './embedding-model.js';
export type { EmbeddingResult } from './embedding-model.js';
export type { HttpClient } from './wire/wire.client.js';
export { canRead, fitImages, imageExcess, imagesOf, withoutImages, fitParameters } from './request-fit.policy.js';
export { LlmModule } from './llm.module.js';
export { openModels } from './opened-models.js';
export type { OpenedModelChoice, OpenedModels, OpenModelsOptions } from './opened-models.js';
export type { ModelTrace, TracedCall } from './wrappers/traced-model.wrapper.js';
export { ModelFactory } from './model-factory.js';
export type { ModelSettings } from './model-settings.types.js';
export { KeyPoolRegistry } from './wrappers/key-pool.registry.js';
export { ModelStackFactory } from './wrappers/model-stack.factory.js';
export { ModelRegistry } from './model.registry.js';
export { ModelProbe } from './probe/model-probe.js';
export { OwnProvidersModule } from './own-providers.module.js';
export { countMessages, estimateTokens } from './tokens/token-estimate.mapper.js';
export type { TokenCounter } from './tokens/token-counter.js';
export { isContextExceeded } from './wire/status-error.mapper.js';
export { describeFormat } from './tool-schema.mapper.js';
export { TokenCounterRegistry } from './tokens/token-counter.registry.js';

export const LLM_MIGRATIONS = [CreateBudget1764000000009];
export type { ModelOmission } from './wire/adaptation.registry.js';
