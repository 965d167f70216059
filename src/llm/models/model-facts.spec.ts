import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../config/index.js';
import { contextWindowOf, defaultContextTokens, factsOf, isKnown, MODEL_TABLES } from './model-facts.js';

const folder = mkdtempSync(join(tmpdir(), 'models-'));
afterAll(() => rmSync(folder, { recursive: true }));

const of = (provider: string, name: string) => ({ provider, name });

describe.each(Object.entries(MODEL_TABLES))('the table %s.json', (_name, { date, sources, models }) => {
  it('has the format of the own file, a date and sources', () => {
    const path = join(folder, 'models.json');
    writeFileSync(path, JSON.stringify({ models }));
    expect(loadConfig({ env: { LLM_MODELS_FILE: path } }).config.llm.models).toEqual(models);
    expect(date).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    expect(sources.length).toBeGreaterThan(0);
    for (const source of sources) expect(new URL(source).protocol).toBe('https:');
  });
});

it.each([
  ['openai', 'gpt-4.1-mini', 1_047_576],
  ['openai', 'gpt-5.6-luna', 400_000],
  ['openai', 'gpt-5.2-chat-latest', 128_000],
  ['openai', 'gpt-4', 8192],
  ['openai', 'gpt-4-0613', 8192],
  ['openai', 'gpt-4-0125-preview', 128_000],
  ['openai', 'ft:gpt-4o-mini:acme', 128_000],
  ['azure', 'gpt-35-turbo', 16_385],
  ['openai-compatible', 'openai/gpt-4o', 128_000],
  ['openai-compatible', 'anthropic/claude-sonnet-4.5', 200_000],
  ['anthropic', 'claude-haiku-5-5', 1_000_000],
  ['anthropic', 'us.anthropic.claude-opus-4-20250514-v1:0', 200_000],
  ['deepseek', 'deepseek-v4-flash', 128_000],
  ['glm', 'glm-4.5v', 64_000],
  ['glm', 'glm-4.7', 200_000],
  ['openai-compatible', 'gemini-2.5-pro', 1_048_576],
  ['openai-compatible', 'mistral-large-latest', 128_000],
  ['openai-compatible', 'kimi-k2.6', 131_072],
  ['ollama', 'gpt-oss:20b', undefined],
  ['openai', 'house-model', undefined],
])('%s:%s has the context window %s', (provider, name, window) => {
  expect(contextWindowOf(of(provider, name))).toBe(window);
});

it('the default history is a quarter of the smallest window, within limits', () => {
  expect(defaultContextTokens([of('openai', 'gpt-5'), of('openai', 'gpt-4')])).toBe(2048);
  expect(defaultContextTokens([of('openai', 'gpt-5')])).toBe(16_000);
  expect(defaultContextTokens([of('openai', 'house-model')])).toBe(8000);
  expect(defaultContextTokens([of('openai', 'house-model')], { 'house-*': { contextTokens: 40_000 } })).toBe(10_000);
});

it('an own fact replaces that of a table, and leaves the others', () => {
  const own = { 'openai:gpt-5*': { effort: ['high'] as const }, 'gpt-5.6-luna': { vision: false, effort: [] } };
  const { price: _price, ...facts } = factsOf(of('openai', 'gpt-5.6-luna'), own);
  expect(facts).toEqual({
    contextTokens: 400_000,
    cacheWriteRate: 1.25,
    effort: ['high'],
    vision: false,
  });
  expect(factsOf(of('azure', 'gpt-5.6-luna'), own).effort).toEqual([]);
});

it('a pattern of all models does not make a model known', () => {
  expect(isKnown(of('ollama', 'qwen3'))).toBe(false);
  expect(isKnown(of('ollama', 'llava'))).toBe(true);
  expect(isKnown(of('openai', 'house-model'))).toBe(false);
  expect(isKnown(of('openai', 'house-model'), { 'house-model': {} })).toBe(true);
});
