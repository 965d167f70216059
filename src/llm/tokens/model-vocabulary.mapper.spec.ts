import { expect, it } from 'vitest';
import { vocabularyOf } from './token-counter.registry.js';

it.each([
  'gpt-4o',
  'gpt-4o-mini-2024-07-18',
  'chatgpt-4o-latest',
  'gpt-4.1-nano',
  'gpt-41-mini',
  'gpt-4.5-preview',
  'gpt-5',
  'gpt-5.1-codex',
  'gpt-oss-120b',
  'o1',
  'o3-mini-2025-01-31',
  'o4-mini',
  'codex-mini-latest',
  'openai/gpt-4o',
  'openrouter/openai/o3',
  'ft:gpt-4o-2024-08-06:org::id',
  'Azure/GPT-4o',
])('maps %s to o200k_base', (model) => expect(vocabularyOf(model)).toBe('o200k_base'));

it.each(['gpt-4', 'gpt-4-0613', 'gpt-4-turbo-2024-04-09', 'gpt-3.5-turbo', 'gpt-35-turbo-16k', 'ft:gpt-3.5-turbo:org'])(
  'maps %s to cl100k_base',
  (model) => expect(vocabularyOf(model)).toBe('cl100k_base'),
);

it.each([
  '',
  'claude-sonnet-4-5',
  'llama3.1:8b',
  'qwen2.5',
  'deepseek-chat',
  'glm-4.6',
  'gpt-2',
  'gpt-4ox',
  'olmo',
  'o',
  'openai/',
  'my-gpt-4o',
  'offline',
])('has no vocabulary for %o', (model) => expect(vocabularyOf(model)).toBeUndefined());
