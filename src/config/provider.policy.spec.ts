import { describe, expect, it } from '@jest/globals';
import { AppError } from '../common/index.js';
import { loadConfig, type EnvRecord } from './config.loader.js';

const llm = (env: EnvRecord) => loadConfig({ env }).config.llm;

describe('the chosen provider', () => {
  it.each<[string, EnvRecord]>([
    ['openai', { OPENAI_API_KEY: 'o', DEEPSEEK_API_KEY: 'd' }],
    ['deepseek', { DEEPSEEK_API_KEY: 'd', GLM_API_KEY: 'g' }],
    ['glm', { GLM_API_KEY: 'g', LLM_BASE_URL: 'http://x/v1' }],
    ['openai-compatible', { LLM_BASE_URL: 'http://x/v1', LLM_MODEL: 'm' }],
    ['offline', {}],
    ['ollama', { LLM_PROVIDER: 'ollama', OPENAI_API_KEY: 'o' }],
  ])('is %s', (provider, env) => {
    expect(llm(env).provider).toBe(provider);
  });

  it('gets its own key and URL, the general ones instead, and never those of another', () => {
    expect(llm({ LLM_PROVIDER: 'glm', GLM_API_KEY: 'g', LLM_API_KEY: 'l', GLM_BASE_URL: 'http://g/v1' })).toMatchObject(
      {
        apiKey: 'g',
        baseUrl: 'http://g/v1',
      },
    );
    expect(llm({ LLM_PROVIDER: 'deepseek', LLM_API_KEY: 'l', LLM_BASE_URL: 'http://l/v1' })).toMatchObject({
      apiKey: 'l',
      baseUrl: 'http://l/v1',
    });
    expect(llm({ LLM_PROVIDER: 'ollama', OPENAI_API_KEY: 'o' })).not.toHaveProperty('apiKey');
    expect(llm({ LLM_PROVIDER: 'offline', LLM_API_KEY: 'l' })).not.toHaveProperty('apiKey');
  });

  it.each<[EnvRecord, RegExp]>([
    [{ LLM_PROVIDER: 'openai' }, /OPENAI_API_KEY: is not set/],
    [{ LLM_PROVIDER: 'deepseek', OPENAI_API_KEY: 'o' }, /DEEPSEEK_API_KEY: is not set/],
    [{ LLM_PROVIDER: 'glm' }, /GLM_API_KEY: is not set/],
    [{ LLM_PROVIDER: 'openai-compatible', LLM_MODEL: 'm' }, /LLM_BASE_URL: is not set/],
    [{ LLM_BASE_URL: 'http://x/v1' }, /LLM_MODEL: is not set/],
  ])('needs what it cannot do without: %j', (env, message) => {
    expect(() => llm(env)).toThrow(AppError);
    expect(() => llm(env)).toThrow(message);
  });
});
