import { describe, expect, it } from 'vitest';
import { createModelRegistry } from './model-registry.factory.js';
import type { ModelSettings } from './model-settings.types.js';
import { ModelRegistry } from './model.registry.js';
import { OfflineFactory } from './providers/offline/offline.factory.js';

const registry = createModelRegistry();
const make = (settings: Partial<ModelSettings>) => () =>
  registry.create({ provider: 'openai', timeoutMs: 1_000, ...settings });

function refusal(message: string): unknown {
  return expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining(message) });
}

describe('ModelRegistry', () => {
  it('lists the providers by name', () => {
    expect(registry.names()).toEqual([
      'anthropic',
      'azure',
      'deepseek',
      'glm',
      'offline',
      'ollama',
      'openai',
      'openai-compatible',
    ]);
  });

  it('lists the known names in the error for an unknown one', () => {
    expect(make({ provider: 'opnai' })).toThrow(
      refusal(
        'There is no model provider "opnai"; set LLM_PROVIDER to one of: anthropic, azure, deepseek, glm, offline, ollama,',
      ),
    );
  });

  it('rejects a second provider with the same name', () => {
    const own = new ModelRegistry();
    own.register(new OfflineFactory());
    expect(() => own.register(new OfflineFactory())).toThrow(refusal('"offline" is registered twice'));
  });
});

describe('a provider', () => {
  it.each([
    ['openai', 'OPENAI_API_KEY'],
    ['anthropic', 'ANTHROPIC_API_KEY'],
    ['deepseek', 'DEEPSEEK_API_KEY'],
    ['glm', 'GLM_API_KEY'],
  ])('%s requires its key', (provider, variable) => {
    expect(make({ provider })).toThrow(refusal(`"${provider}" needs an API key; set ${variable}.`));
    expect(make({ provider, apiKey: '  ' })).toThrow(refusal(variable));
    expect(make({ provider, apiKey: 'k' })()).toMatchObject({ provider, capabilities: { functionCalling: true } });
  });

  it('openai-compatible requires a model and a base URL, and no key', () => {
    const provider = 'openai-compatible';
    expect(make({ provider, baseUrl: 'http://x/v1' })).toThrow(refusal('needs a model; set LLM_MODEL'));
    expect(make({ provider, model: 'm' })).toThrow(refusal('needs a base URL; set LLM_BASE_URL'));
    expect(make({ provider, model: 'm', baseUrl: 'http://x/v1' })().name).toBe('m');
  });

  it('azure requires a deployment and an endpoint', () => {
    const azure = { provider: 'azure', apiKey: 'k' };
    expect(make({ ...azure, baseUrl: 'http://x' })).toThrow(refusal('needs a model; set LLM_MODEL'));
    expect(make({ ...azure, model: 'gpt-4o' })).toThrow(refusal('needs a base URL; set AZURE_OPENAI_ENDPOINT'));
    expect(make({ ...azure, model: 'gpt-4o', baseUrl: 'http://x' })().capabilities.vision).toBe(true);
  });

  it('ollama and offline require no settings', () => {
    expect(make({ provider: 'ollama' })().provider).toBe('ollama');
    expect(make({ provider: 'offline' })().name).toBe('offline');
  });

  it('rejects an invalid key or URL', () => {
    expect(make({ apiKey: 'a\nb' })).toThrow(refusal('OPENAI_API_KEY'));
    expect(make({ apiKey: 'k', baseUrl: 'localhost:8000' })).toThrow(refusal('"localhost:8000", which is not'));
    expect(make({ apiKey: 'k', baseUrl: 'http://u:secret@x/v1' })).toThrow(refusal('a base URL with a password'));
    expect(make({ apiKey: 'k', baseUrl: 'http://u:secret@x/v1' })).not.toThrow('secret@');
  });

  it.each([
    ['openai', 'gpt-4o', true, true],
    ['openai', 'gpt-4', false, true],
    ['openai', 'gpt-3.5-turbo-instruct', false, false],
    ['glm', 'glm-4.5v', true, true],
    ['glm', 'glm-4.7', false, true],
    ['ollama', 'llama3.2-vision', true, true],
    ['ollama', 'llava:7b', true, false],
    ['anthropic', 'claude-haiku-5-5', true, true],
    ['anthropic', 'claude-2.1', false, false],
    ['deepseek', 'deepseek-chat', false, true],
  ])('%s has the capabilities of %s', (provider, model, vision, functionCalling) => {
    expect(make({ provider, model, apiKey: 'k' })().capabilities).toMatchObject({ vision, functionCalling });
  });
});
