import { Module, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { CacheModule } from '../cache/index.js';
import { llmConfig, type LlmConfig } from '../config/namespaces/index.js';
import { Database } from '../persistence/index.js';
import { MetricRegistry, type Sample, TelemetryModule, Tracing } from '../telemetry/index.js';
import { ModelBudget } from './budget/model-budget.js';
import { createModelBudget } from './budget/model-budget.factory.js';
import { Cassette } from './cassette/cassette.js';
import { EmbeddingModel } from './embedding-model.js';
import { createEmbeddingModel } from './embedding-model.factory.js';
import { httpOptions } from './wire/wire.client.js';
import { createModelRegistry, ModelFactories } from './model-registry.factory.js';
import { ModelMetrics } from './wrappers/traced-model.wrapper.js';
import { ModelRegistry } from './model.registry.js';
import { TokenCounterRegistry } from './tokens/token-counter.registry.js';
import { KeyPoolRegistry } from './wrappers/key-pool.registry.js';
import type { CircuitState } from './wrappers/breaking-model.wrapper.js';
import { ModelStackFactory } from './wrappers/model-stack.factory.js';
import { VocabularyLoader } from './tokens/vocabulary.loader.js';

/** Provides the `ModelRegistry` with all providers, and the `TokenCounterRegistry`. Closes connections at shutdown. */
@Module({
  imports: [CacheModule, TelemetryModule],
  providers: [
    {
      provide: ModelRegistry,
      useFactory: (config: LlmConfig, own?: ModelFactories) =>
        createModelRegistry(httpOptions(config), own, config.models),
      inject: [llmConfig.KEY, { token: ModelFactories, optional: true }],
    },
    KeyPoolRegistry,
    ModelStackFactory,
    {
      provide: ModelMetrics,
      useFactory: (metrics: MetricRegistry, tracing: Tracing) =>
        metrics.isOn || tracing.isOn ? new ModelMetrics(metrics) : null,
      inject: [MetricRegistry, Tracing],
    },
    // `null` if not configured: without embeddings, facts have no vectors and are found by their words only.
    {
      provide: EmbeddingModel,
      useFactory: createEmbeddingModel,
      inject: [ModelStackFactory, llmConfig.KEY, { token: Cassette, optional: true }],
    },
    {
      provide: ModelBudget,
      useFactory: createModelBudget,
      inject: [llmConfig.KEY, TokenCounterRegistry, Database],
    },
    TokenCounterRegistry,
    VocabularyLoader,
  ],
  exports: [ModelRegistry, ModelStackFactory, KeyPoolRegistry, EmbeddingModel, TokenCounterRegistry, ModelBudget],
})
export class LlmModule implements OnModuleInit, OnApplicationShutdown {
  constructor(
    private readonly registry: ModelRegistry,
    private readonly stack: ModelStackFactory,
    private readonly metrics: MetricRegistry,
  ) {}

  onModuleInit(): void {
    this.metrics.collect(() => [...this.stack.circuits()].map(circuitSample).toSorted((a, b) => b[1] - a[1]));
  }

  async onApplicationShutdown(): Promise<void> {
    await this.registry.close();
  }
}

const OPENNESS: Readonly<Record<CircuitState, number>> = { closed: 0, half_open: 0.5, open: 1 };

/** @param name `provider:model`; the name of a model may contain a colon too */
function circuitSample([name, state]: readonly [name: string, state: CircuitState]): Sample {
  const at = name.indexOf(':');
  return ['jackdaw_circuit_open', OPENNESS[state], { provider: name.slice(0, at), model: name.slice(at + 1) }];
}
