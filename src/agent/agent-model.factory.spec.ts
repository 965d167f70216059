import { describe, expect, it } from 'vitest';
import { ScriptedChatModel } from '../../test/support/scripted-chat-model.js';
import { loadConfig } from '../config/index.js';
import { KeyPoolRegistry, ModelFactory, ModelRegistry, ModelStackFactory, type ModelSettings } from '../llm/index.js';
import { agentDefinitionSchema } from './definition/agent-definition.schema.js';
import { AgentModelFactory } from './agent-model.factory.js';

/** A provider that records its settings. */
class KeepingFactory extends ModelFactory {
  readonly defaultBaseUrl = undefined;
  readonly defaultModel = undefined;
  readonly given: ModelSettings[] = [];

  constructor(readonly name: string) {
    super();
  }

  create(settings: ModelSettings): ScriptedChatModel {
    this.given.push(settings);
    return new ScriptedChatModel([]);
  }
}

describe('the model of an agent', () => {
  const { config } = loadConfig({
    env: { OPENAI_API_KEY: 'o', GLM_API_KEY: 'g', GLM_BASE_URL: 'http://g/v1', LLM_TIMEOUT_MS: '7' },
  });
  const factories = ['openai', 'glm', 'own'].map((name) => new KeepingFactory(name));
  const registry = new ModelRegistry();
  for (const factory of factories) registry.register(factory);
  const models = new AgentModelFactory(
    new ModelStackFactory(registry, new KeyPoolRegistry(config.llm), config.llm, null, null),
    config.llm,
    null,
  );
  const create = (provider: string, name?: string) =>
    models.create(agentDefinitionSchema.parse({ name: 'a', model: { provider, name } }));

  it('has the key and base URL of its provider, independent of the default agent', () => {
    create('openai');
    create('glm', 'glm-x');
    create('own');
    expect(factories.map(({ given }) => given)).toEqual([
      [{ provider: 'openai', timeoutMs: 7, apiKey: 'o' }],
      [{ provider: 'glm', timeoutMs: 7, model: 'glm-x', apiKey: 'g', baseUrl: 'http://g/v1' }],
      [{ provider: 'own', timeoutMs: 7 }],
    ]);
  });

  it('is created once for agents with the same model', () => {
    expect(create('glm', 'glm-x')).toBe(create('glm', 'glm-x'));
    expect(create('glm', 'glm-x')).not.toBe(create('glm', 'glm-y'));
  });
});
