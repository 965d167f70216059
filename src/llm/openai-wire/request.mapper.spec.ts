import { describe, expect, it } from 'vitest';
import type { ResponseFormat } from '../chat/chat.types.js';
import { formatModeOf } from '../providers/openai/capabilities.mapper.js';
import { formatModeOf as ollamaFormatMode } from '../providers/ollama/capabilities.mapper.js';
import { toWireFormat } from './request.mapper.js';

const open = { schema: { type: 'object', properties: { a: { type: 'string' } } } };
const strict = { schema: { ...open.schema, required: ['a'], additionalProperties: false } };
const list = { schema: { type: 'array' } };
const OBJECT = { field: { type: 'json_object' }, isInPrompt: true };
const WORDS = { isInPrompt: true };

describe('toWireFormat', () => {
  it.each<[string, ResponseFormat, Parameters<typeof toWireFormat>[1], object]>([
    ['any object', 'json', 'strict', OBJECT],
    ['an open schema', open, 'strict', OBJECT],
    ['a schema for a model that supports objects only', strict, 'object', OBJECT],
    ['a list, which no JSON mode supports', list, 'strict', WORDS],
    ['any format for a model without support', strict, 'none', WORDS],
    [
      'any schema',
      open,
      'schema',
      { field: { json_schema: { name: 'answer', schema: open.schema } }, isInPrompt: true },
    ],
    ['a strict schema', strict, 'strict', { field: { json_schema: { strict: true } }, isInPrompt: false }],
  ])('maps %s', (_what, format, mode, expected) => {
    const written = toWireFormat(format, mode);
    expect(written).toMatchObject(expected);
    expect('field' in written).toBe('field' in expected);
  });

  it.each([
    ['gpt-5.6-luna', 'strict'],
    ['gpt-4o', 'strict'],
    ['gpt-4o-2024-05-13', 'object'],
    ['gpt-4-turbo', 'object'],
    ['gpt-3.5-turbo', 'object'],
    ['gpt-4', 'none'],
    ['gpt-4-0613', 'none'],
  ])('%s supports %s', (model, mode) => expect(formatModeOf(model)).toBe(mode));

  it('sets no schema for Ollama beside tools', () => {
    expect([true, false].map((hasTools) => ollamaFormatMode('qwen3', hasTools))).toEqual(['none', 'schema']);
  });
});
