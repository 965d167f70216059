import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../kernel/json/index.js';
import { createValueCheck } from './input/schema-input.factory.js';
import { suspend, Suspension } from './suspension.factory.js';
import type { SuspendOptions } from './tool.types.js';

describe('suspend', () => {
  it('returns the request as a Suspension', () => {
    const asked = { question: 'Now?', schema: { type: 'boolean' }, expiresInMs: 1000 };
    const suspension = suspend(asked);
    expect(suspension).toBeInstanceOf(Suspension);
    expect(suspension.asked).toEqual(asked);
  });

  it('stores the memo in its JSON form', () => {
    const memo = { at: new Date(0), list: [1, undefined] } as unknown as JsonValue;
    expect(suspend({ question: 'Now?', memo }).asked.memo).toEqual({ at: '1970-01-01T00:00:00.000Z', list: [1, null] });
    expect(suspend({ question: 'Now?', memo: 'x'.repeat(65_534) }).asked.memo).toHaveLength(65_534);
  });

  it.each<[string, SuspendOptions]>([
    ['a memo of 65537 bytes', { question: 'Now?', memo: 'x'.repeat(65_535) }],
    ['a memo that is not JSON', { question: 'Now?', memo: 1n as unknown as JsonValue }],
    ['a memo that is not JSON: a function', { question: 'Now?', memo: (() => 1) as unknown as JsonValue }],
    ['needs a question', { question: ' ' }],
    ['needs a question', {} as SuspendOptions],
    ['expiresInMs 0', { question: 'Now?', expiresInMs: 0 }],
    ['expiresInMs 1.5', { question: 'Now?', expiresInMs: 1.5 }],
  ])('rejects an invalid request: %s', (message, asked) => {
    expect(() => suspend(asked)).toThrow(message);
  });
});

describe('the check of an answer', () => {
  it.each<[object, unknown, string]>([
    [{ type: 'boolean' }, 'yes', '"value" must be boolean, got string'],
    [{ enum: ['a', 'b'] }, 'c', '"value" must be one of "a", "b", got "c"'],
    [{ type: 'object', required: ['n'] }, {}, '"value.n" is required'],
    [{ type: 'array', items: { type: 'integer' } }, [1, 'x'], '"value[1]" must be integer, got string'],
    [{ anyOf: [{ type: 'null' }, { type: 'string' }] }, 1, '"value" fits none of its forms'],
  ])('rejects, for %j, the answer %j with its place', (schema, value, reason) => {
    const checked = createValueCheck(schema as Record<string, unknown>)(value);
    expect(checked).toMatchObject({
      valid: false,
      reason: expect.stringContaining(reason),
      mistakes: [{ message: expect.stringContaining(reason) }],
    });
  });

  it('accepts valid JSON unchanged', () => {
    const check = createValueCheck({ type: 'object', properties: { n: { default: 1 } } });
    const value = { more: true };
    expect(check(value)).toEqual({ valid: true, value: { more: true } });
    expect(value).toEqual({ more: true });
  });
});
