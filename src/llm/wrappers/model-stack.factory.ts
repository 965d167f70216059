import { Inject, Injectable } from '@nestjs/common';
import { Cache } from '../../cache/index.js';
import { llmConfig, type LlmConfig } from '../../config/namespaces/index.js';
import type { GenAiOperation } from '../../telemetry/index.js';
import type { ChatModel } from '../chat/chat-model.js';
import type { EmbeddingModel } from '../embedding-model.js';
import type { ModelSettings } from '../model-settings.types.js';
import { ModelRegistry } from '../model.registry.js';
import { ModelBudget } from '../budget/model-budget.js';
import { ModelMetrics, TracedModel } from './traced-model.wrapper.js';
import type { ModelOmission } from '../wire/adaptation.registry.js';
import { AccountedEmbeddingModel } from './accounted-embedding.wrapper.js';
import { BoundedModel, Bulkhead } from './bounded-model.wrapper.js';
import { BreakingModel, CircuitBreaker, type CircuitState } from './breaking-model.wrapper.js';
import { BudgetedModel } from './budgeted-model.wrapper.js';
import type { Cassette } from '../cassette/cassette.js';
import { CachingModel } from './caching-model.wrapper.js';
import { CassetteEmbeddingModel, CassetteModel } from './cassette-model.wrapper.js';
import { FallbackModel } from './fallback-model.wrapper.js';
import { GuardedEmbeddingModel, type CallGuard } from './guarded-embedding.wrapper.js';
import { KeyPoolRegistry } from './key-pool.registry.js';
import { PooledEmbeddingModel } from './pooled-embedding.wrapper.js';
import { PooledModel } from './pooled-model.wrapper.js';
import { assertPriced, isCosted, priceOf } from '../models/model-facts.js';
import { PricedModel } from './priced-model.wrapper.js';
import { retried, type Retries, RetryBudget, RetryingModel, type RetryRules } from './retrying-model.wrapper.js';

/** Rules of an agent that override the configuration. */
export interface OwnRules {
  readonly maxAttempts?: number;
  /** Answers its calls, or records them. */
  readonly cassette?: Cassette | null;
}

/** Maximum circuits in memory; beyond it, closed ones are dropped. */
const MAX_CIRCUITS = 1000;

type Layer = (model: ChatModel) => ChatModel;
type Named = Pick<ChatModel, 'provider' | 'name'>;

interface NamedBreaker {
  readonly key: string;
  /** `provider:model` */
  readonly name: string;
  readonly breaker: CircuitBreaker;
}

/**
 * @param requests number of requests that a circuit admits now; `Infinity` after it has closed
 * @param circuit its key, as of `circuitOf`
 */
type AdmissionListener = (requests: number, circuit: string) => void;

/** The states of a circuit, in the order of the requests that they admit. */
const ADMITTING: Readonly<Record<CircuitState, number>> = { open: 0, half_open: 1, closed: 2 };

/**
 * Creates models with all configured wrappers: cache, fallback, circuit breaker, retry, concurrency limit, budget and
 * price.
 */
@Injectable()
export class ModelStackFactory {
  private readonly rules: LlmConfig['resilience'];
  private readonly config: Pick<LlmConfig, 'prices' | 'models'>;
  private readonly isCosted: boolean;
  private readonly breakers = new Map<string, NamedBreaker>();
  private readonly budgets = new Map<string, RetryBudget>();
  private readonly bulkheads = new Map<string, Bulkhead>();
  private readonly admissionListeners: AdmissionListener[] = [];
  /** The circuits of the models whose calls failed with these errors. */
  private readonly failures = new WeakMap<Error, string>();

  constructor(
    private readonly registry: ModelRegistry,
    private readonly keys: KeyPoolRegistry,
    @Inject(llmConfig.KEY) config: LlmConfig,
    /** `null` if none is configured: models then have no cache as a wrapper. */
    @Inject(Cache) private readonly cache: Cache | null,
    /** `null` outside of an application: models then have no budgets as a wrapper. */
    @Inject(ModelBudget) private readonly budget: ModelBudget | null,
    /** `null` if nothing reads the metrics: calls are then not measured. */
    @Inject(ModelMetrics) private readonly metrics: ModelMetrics | null = null,
  ) {
    this.rules = config.resilience;
    this.config = config;
    this.isCosted = isCosted(config.budget);
  }

  /**
   * @param others fallbacks, in order
   * @throws AppError `CONFIG_INVALID`, as the registry
   */
  create(settings: ModelSettings, others: readonly ModelSettings[] = [], own: OwnRules = {}): ChatModel {
    const [first, ...rest] = [settings, ...others].map((one, at) => {
      const hasFallback = at < others.length;
      return this.dependable(one, { ...own, hasFallback });
    }) as [ChatModel, ...ChatModel[]];
    const model = rest.length === 0 ? first : new FallbackModel(first, rest);
    const cached = this.cache ? new CachingModel(model, this.cache) : model;
    return own.cassette ? new CassetteModel(cached, own.cassette) : cached;
  }

  /**
   * Creates an embedding model with the applicable wrappers. Keys, budgets, places and retry rules are those of the
   * provider's chat models.
   * @param waitMs time after the first attempt after which no retry starts, in ms
   * @throws AppError `CONFIG_INVALID`, as the registry
   */
  createEmbedding(settings: ModelSettings, waitMs: number, cassette: Cassette | null = null): EmbeddingModel {
    const model = this.accountedEmbedding(this.keyedEmbedding(settings));
    const { concurrency, breaker, retry } = this.rules;
    const guards: CallGuard[] = [];
    const circuit = breaker.failures > 0 ? this.breaker(model, settings, false).breaker : undefined;
    const retries = this.retries(retry, model, circuit);
    if (concurrency > 0) guards.push((call, { signal }) => this.bulkhead(model).run(call, signal));
    if (retry.maxAttempts > 1) guards.push((call, options) => retried(call, retries, options));
    if (circuit) guards.push((call) => circuit.run(call));
    return recordedBy(cassette, new GuardedEmbeddingModel(model, guards, waitMs));
  }

  /** Registers a listener for open circuits that admit requests again. */
  onAdmission(listener: AdmissionListener): void {
    this.admissionListeners.push(listener);
  }

  /** The key of the circuit of the model whose call failed with the error, if it has one. */
  circuitOf(error: Error): string | undefined {
    return this.failures.get(error);
  }

  /** Names of the registered providers. */
  providers(): readonly string[] {
    return this.registry.names();
  }

  /** States of all circuits, by `provider:model`; of several with one name the one that admits least. */
  circuits(): ReadonlyMap<string, CircuitState> {
    const states = new Map<string, CircuitState>();
    for (const { name, breaker } of this.breakers.values()) {
      const { state } = breaker;
      if (ADMITTING[state] <= ADMITTING[states.get(name) ?? 'closed']) states.set(name, state);
    }
    return states;
  }

  /** Changes of requests that providers required, by `provider:model`. */
  adaptations(): ReadonlyMap<string, readonly string[]> {
    return this.registry.adaptations();
  }

  /** The assumptions about the models that no table has, by `provider:model`. */
  assumptions(): ReadonlyMap<string, readonly string[]> {
    return this.registry.assumptions();
  }

  /** Tools that requests omit, since the format of their provider cannot express them. */
  omittedTools(): readonly ModelOmission[] {
    return this.registry.omittedTools();
  }

  private dependable(settings: ModelSettings, own: OwnRules & { readonly hasFallback: boolean }): ChatModel {
    const model = this.accounted(this.keyed(settings));
    return this.layers(model, settings, own).reduce((inner, wrap) => wrap(inner), model);
  }

  /** Wraps the application's own model. */
  ofApplication(model: ChatModel, { cassette }: Pick<OwnRules, 'cassette'> = {}): ChatModel {
    const accounted = this.accounted(model);
    return cassette ? new CassetteModel(accounted, cassette) : accounted;
  }

  /** Wraps a model with its measurement, its price, if it has one, and with the budgets. */
  accounted(model: ChatModel, operation: GenAiOperation = 'chat'): ChatModel {
    const price = priceOf(model, this.config);
    const measured = this.metrics ? new TracedModel(model, this.metrics.traceOf(operation)) : model;
    const priced = price ? new PricedModel(measured, price) : measured;
    return this.budget ? new BudgetedModel(priced, this.budget, price, this.config.models) : priced;
  }

  /**
   * Wraps an embedding model with its price and the budgets.
   * @throws AppError `CONFIG_INVALID` if a cost budget exists and the model has no price
   */
  accountedEmbedding(model: EmbeddingModel, cassette: Cassette | null = null): EmbeddingModel {
    if (this.isCosted) assertPriced([model], this.config);
    const accounted = new AccountedEmbeddingModel(model, (call) => this.accounted(call, 'embeddings'));
    return recordedBy(cassette, accounted);
  }

  /** Innermost first; without the disabled ones. */
  private layers(
    model: ChatModel,
    settings: ModelSettings,
    { hasFallback, maxAttempts = this.rules.retry.maxAttempts }: OwnRules & { readonly hasFallback: boolean },
  ): readonly Layer[] {
    const named = this.rules.breaker.failures > 0 ? this.breaker(model, settings, hasFallback) : undefined;
    const retries = this.retries({ ...this.rules.retry, maxAttempts }, model, named?.breaker);
    const note = (error: unknown) => void (named && error instanceof Error && this.failures.set(error, named.key));
    return [
      ...(this.rules.concurrency > 0 ? [(inner: ChatModel) => new BoundedModel(inner, this.bulkhead(inner))] : []),
      ...(maxAttempts > 1 ? [(inner: ChatModel) => new RetryingModel(inner, retries)] : []),
      ...(named ? [(inner: ChatModel) => new BreakingModel(inner, named.breaker, note)] : []),
    ];
  }

  private retries(rules: RetryRules, { provider }: Named, circuit?: CircuitBreaker): Retries {
    const budget = obtain(this.budgets, provider, () => new RetryBudget());
    const { metrics } = this;
    const onRetry = (error: unknown) => {
      circuit?.attemptFailed(error);
      metrics?.retried(provider);
    };
    return { ...rules, budget, onRetry };
  }

  private keyed(settings: ModelSettings): ChatModel {
    const pool = this.keys.of(settings.provider);
    if (!pool) return this.registry.create(settings);
    const make = (apiKey: string) => this.registry.create({ ...settings, apiKey });
    // The key of this instance does not matter: it only provides name and capabilities.
    return new PooledModel(pool, make, make(pool.first ?? ''));
  }

  private keyedEmbedding(settings: ModelSettings): EmbeddingModel {
    const pool = this.keys.of(settings.provider);
    if (!pool) return this.registry.createEmbedding(settings);
    const make = (apiKey: string) => this.registry.createEmbedding({ ...settings, apiKey });
    return new PooledEmbeddingModel(pool, make, make(pool.first ?? ''));
  }

  /** One circuit per provider, address and model, and apart from it one for the users that have a fallback. */
  private breaker({ provider, name: model }: Named, { baseUrl }: ModelSettings, hasFallback: boolean): NamedBreaker {
    // The number of models is unbounded, since requests name them.
    if (this.breakers.size >= MAX_CIRCUITS) dropClosed(this.breakers);
    const name = `${provider}:${model}`;
    const key = JSON.stringify([name, baseUrl, hasFallback]);
    const what = `the model ${model} of ${provider}`;
    const { failures, maxPauseMs } = this.rules.breaker;
    const announce = (requests: number) => this.admissionListeners.forEach((listener) => listener(requests, key));
    const create = () => ({
      key,
      name,
      breaker: new CircuitBreaker({ failures, maxPauseMs }, what, hasFallback, announce),
    });
    return obtain(this.breakers, key, create);
  }

  private bulkhead({ provider }: Named): Bulkhead {
    return obtain(this.bulkheads, provider, () => new Bulkhead(this.rules, `The provider ${provider}`));
  }
}

function recordedBy(cassette: Cassette | null, model: EmbeddingModel): EmbeddingModel {
  return cassette ? new CassetteEmbeddingModel(model, cassette) : model;
}

function dropClosed(breakers: Map<string, NamedBreaker>): void {
  for (const [key, { breaker }] of breakers) if (breaker.state === 'closed') breakers.delete(key);
}

function obtain<T>(all: Map<string, T>, key: string, make: () => T): T {
  let found = all.get(key);
  if (!found) all.set(key, (found = make()));
  return found;
}
