import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { loadConfig } from './config.loader.js';
import { prices } from './models-file.loader.js';

const folder = mkdtempSync(join(tmpdir(), 'models-'));
const path = join(folder, 'models.json');
afterAll(() => rmSync(folder, { recursive: true }));

function load(text: string, env: Record<string, string> = {}) {
  writeFileSync(path, text);
  return loadConfig({ env: { OPENAI_API_KEY: 'k', LLM_MODELS_FILE: path, ...env } }).config.llm;
}

const price = { input: 1, output: 2, cacheWrite: 1.25 };

it('reads facts of models, whose prices count as LLM_PRICES, which take precedence', () => {
  const models = { 'openai:gpt-7*': { contextTokens: 500_000, effort: ['low'] }, 'house-model': { price } };
  const text = JSON.stringify({ models });
  expect(load(text)).toMatchObject({ models, prices: { 'house-model': price } });
  expect(load(text, { BUDGET_RUN: 'cost=1' }).budget).toMatchObject({ run: { cost: 1 } });
  const other = { input: 3, output: 3 };
  expect(load(text, { LLM_PRICES: JSON.stringify({ 'house-model': other }) }).prices['house-model']).toEqual(other);
});

it('permits the list prices of the tables beside its own', () => {
  const models = { 'house-model': { price } };
  const config = load(JSON.stringify({ models }), { LLM_PRICES: 'list', BUDGET_DAY: 'cost=5' });
  expect(config).toMatchObject({ prices: { 'house-model': price }, hasListPrices: true });
  expect(load(JSON.stringify({ models })).hasListPrices).toBe(false);
});

it('is optional, unless it is named', () => {
  expect(loadConfig({ env: { OPENAI_API_KEY: 'k' } }).config.llm.models).toEqual({});
  expect(() => loadConfig({ env: { OPENAI_API_KEY: 'k', LLM_MODELS_FILE: join(folder, 'none.json') } })).toThrow(
    /none\.json cannot be read/,
  );
});

it.each([
  ['{\n  "models": {,}\n}', 'is not JSON (syntax error at line 2, column 14).'],
  ['{"models": {"a": {"contextWindow": 1}}}', 'models › a: Unrecognized key: "contextWindow"'],
  ['{"models": {"a": {"effort": ["some"]}}}', 'models › a › effort › 0: '],
  ['{"models": {"a": {"contextTokens": "8k"}}}', 'models › a › contextTokens: '],
  ['{"models": {"a*": {"price": {"input": 1, "output": 1}}}}', 'models: a name with * cannot have a price'],
  ['{"model": {}}', 'Unrecognized key: "model"'],
])('refuses %s with the file and the path', (text, why) => {
  expect(() => load(text)).toThrow(why);
  expect(() => load(text)).toThrow(path);
});

const given = { 'openai:gpt-5-mini': { input: 0.25, output: 2, cachedInput: 0.025 }, qwen3: { input: 0, output: 0 } };

it('reads prices as JSON and from a file', () => {
  const other = mkdtempSync(join(tmpdir(), 'prices-'));
  try {
    const file = join(other, 'prices.json');
    writeFileSync(file, JSON.stringify(given));
    expect(prices().parse(JSON.stringify(given))).toEqual(given);
    expect(prices().parse(file)).toEqual(given);
  } finally {
    rmSync(other, { recursive: true });
  }
});

it.each([
  ['{"a": {"input": 1}}', 'a.output'],
  ['{"a": {"input": -1, "output": 1}}', 'a.input'],
  ['{"a": {"input": 1, "output": 1, "cached": 1}}', 'cached'],
  ['{"a": 1', 'JSON'],
  ['/does/not/exist.json', 'ENOENT'],
])('refuses %s with the reason', (text, why) => {
  expect(() => prices().parse(text)).toThrow(why);
});
