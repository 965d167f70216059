import { describe, expect, it } from 'vitest';
import { AppError } from '../errors/index.js';
import { loadConfig, type EnvRecord } from './config.loader.js';

const llm = (env: EnvRecord) => loadConfig({ env }).config.llm;
const accessOf = (env: EnvRecord) => {
  const { provider, access } = llm(env);
  return access[provider];
};
const warnings = (env: EnvRecord) => loadConfig({ env }).warnings;

describe('the chosen provider', () => {
  it.each<[string, EnvRecord]>([
    ['openai', { OPENAI_API_KEY: 'o', DEEPSEEK_API_KEY: 'd' }],
    ['openai', { OPENAI_API_KEY: 'o', ANTHROPIC_API_KEY: 'a' }],
    ['anthropic', { ANTHROPIC_API_KEY: 'a', DEEPSEEK_API_KEY: 'd' }],
    ['azure', { AZURE_OPENAI_API_KEY: 'z', AZURE_OPENAI_ENDPOINT: 'http://z', LLM_MODEL: 'm', DEEPSEEK_API_KEY: 'd' }],
    ['deepseek', { DEEPSEEK_API_KEY: 'd', GLM_API_KEY: 'g' }],
    ['glm', { GLM_API_KEY: 'g', OLLAMA_BASE_URL: 'http://x/v1' }],
    ['openai-compatible', { OPENAI_API_KEY: 'o', LLM_BASE_URL: 'http://x/v1', LLM_MODEL: 'm' }],
    ['ollama', { OLLAMA_BASE_URL: 'http://x/v1' }],
    ['offline', { OPENAI_BASE_URL: 'http://x/v1' }],
    ['openai-compatible', { LLM_BASE_URL: 'http://x/v1', LLM_MODEL: 'm' }],
    ['offline', {}],
    ['ollama', { LLM_PROVIDER: 'ollama', OPENAI_API_KEY: 'o' }],
  ])('is %s', (provider, env) => {
    expect(llm(env).provider).toBe(provider);
  });

  it('uses its own key and URL, else the general ones', () => {
    const own = { GLM_API_KEY: 'g', GLM_BASE_URL: 'http://g/v1' };
    expect(accessOf({ LLM_PROVIDER: 'glm', LLM_API_KEY: 'l', ...own })).toEqual({
      apiKey: 'g',
      baseUrl: 'http://g/v1',
    });
    expect(accessOf({ LLM_PROVIDER: 'deepseek', LLM_API_KEY: 'l', LLM_BASE_URL: 'http://l/v1' })).toEqual({
      apiKey: 'l',
      baseUrl: 'http://l/v1',
    });
    expect(accessOf({ LLM_PROVIDER: 'openai', LLM_API_KEY: 'l' })).toEqual({ apiKey: 'l' });
    expect(accessOf({ LLM_PROVIDER: 'ollama', OPENAI_API_KEY: 'o' })).toEqual({});
    expect(accessOf({ LLM_PROVIDER: 'offline', LLM_API_KEY: 'l' })).toEqual({});
  });

  it("never sends a provider's own key to LLM_BASE_URL", () => {
    const gateway = { LLM_BASE_URL: 'http://gateway/v1', LLM_MODEL: 'm', OPENAI_API_KEY: 'o' };
    expect(accessOf(gateway)).toEqual({ baseUrl: 'http://gateway/v1' });
    expect(accessOf({ ...gateway, LLM_PROVIDER: 'openai', LLM_API_KEY: 'l' })).toEqual({
      apiKey: 'l',
      baseUrl: 'http://gateway/v1',
    });
    expect(() => llm({ ...gateway, LLM_PROVIDER: 'openai' })).toThrow(
      /LLM_BASE_URL: "http:\/\/gateway\/v1" accepts only LLM_API_KEY.*OPENAI_BASE_URL/,
    );
    expect(accessOf({ ...gateway, LLM_PROVIDER: 'openai', OPENAI_BASE_URL: 'http://own/v1' })).toEqual({
      apiKey: 'o',
      baseUrl: 'http://own/v1',
    });
  });

  it('does not exclude others: each has its own key and URL, and no other has the general ones', () => {
    const { access } = llm({
      LLM_PROVIDER: 'openai-compatible',
      LLM_MODEL: 'm',
      LLM_BASE_URL: 'http://l/v1',
      LLM_API_KEY: 'l',
      OPENAI_API_KEY: 'o',
      GLM_API_KEY: 'g',
      GLM_BASE_URL: 'http://g/v1',
      OLLAMA_BASE_URL: 'http://ollama/v1',
    });
    expect(access).toEqual({
      openai: { apiKey: 'o' },
      anthropic: {},
      azure: { apiVersion: 'v1' },
      deepseek: {},
      glm: { apiKey: 'g', baseUrl: 'http://g/v1' },
      ollama: { baseUrl: 'http://ollama/v1' },
      'openai-compatible': { apiKey: 'l', baseUrl: 'http://l/v1' },
      offline: {},
    });
  });

  it.each<[EnvRecord, RegExp]>([
    [{ OPENAI_BASE_URL: 'http://x/v1' }, /^OPENAI_BASE_URL does nothing without OPENAI_API_KEY/],
    [{ LLM_PROVIDER: 'ollama', GLM_BASE_URL: 'http://x/v1' }, /^GLM_BASE_URL does nothing without GLM_API_KEY/],
    [
      { LLM_BASE_URL: 'http://x/v1', LLM_MODEL: 'm', OPENAI_API_KEY: 'o' },
      /^LLM_BASE_URL makes openai-compatible the provider, although OPENAI_API_KEY is set/,
    ],
    [
      { OPENAI_API_KEY: 'o', OPENAI_BASE_URL: 'http://o/v1', LLM_API_KEY: 'l' },
      /^LLM_API_KEY does nothing: OPENAI_API_KEY is set/,
    ],
    [
      {
        LLM_PROVIDER: 'openai',
        OPENAI_API_KEY: 'o',
        OPENAI_BASE_URL: 'http://o/v1',
        LLM_BASE_URL: 'http://x/v1',
      },
      /^LLM_BASE_URL does nothing: OPENAI_BASE_URL is set/,
    ],
  ])('warns of variables without effect and of a surprising choice: %j', (env, warning) => {
    expect(warnings(env)).toEqual([expect.stringMatching(warning)]);
  });

  it.each<EnvRecord>([
    { LLM_PROVIDER: 'openai', LLM_API_KEY: 'l', OPENAI_BASE_URL: 'http://x/v1' },
    { LLM_PROVIDER: 'ollama', LLM_BASE_URL: 'http://x/v1' },
    { LLM_PROVIDER: 'azure', LLM_MODEL: 'm', LLM_BASE_URL: 'http://z', LLM_API_KEY: 'z' },
    { OLLAMA_BASE_URL: 'http://x/v1', LLM_MODEL: 'm' },
    { LLM_PROVIDER: 'openai-compatible', LLM_BASE_URL: 'http://x/v1', LLM_MODEL: 'm', OPENAI_API_KEY: 'o' },
  ])('is chosen without a warning: %j', (env) => {
    expect(warnings(env)).toEqual([]);
  });

  it.each<[EnvRecord, RegExp]>([
    [{ LLM_PROVIDER: 'openai' }, /OPENAI_API_KEY: is not set/],
    [{ LLM_PROVIDER: 'deepseek', OPENAI_API_KEY: 'o' }, /DEEPSEEK_API_KEY: is not set/],
    [{ LLM_PROVIDER: 'glm' }, /GLM_API_KEY: is not set/],
    [{ AZURE_OPENAI_API_KEY: 'z' }, /AZURE_OPENAI_ENDPOINT: is not set[^]*LLM_MODEL: is not set/],
    [{ LLM_PROVIDER: 'openai-compatible', LLM_MODEL: 'm' }, /LLM_BASE_URL: is not set/],
    [{ LLM_BASE_URL: 'http://x/v1' }, /LLM_MODEL: is not set/],
  ])('requires its variables: %j', (env, message) => {
    expect(() => llm(env)).toThrow(AppError);
    expect(() => llm(env)).toThrow(message);
  });
});
