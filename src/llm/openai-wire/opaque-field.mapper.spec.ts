import { describe, expect, it } from 'vitest';
import {
  mergeFields,
  opaqueOfCall,
  opaqueOfMessage,
  returnedFields,
  toSignedReasoning,
} from './opaque-field.mapper.js';

const OWNER = { provider: 'openai-compatible', model: 'm' };
const details = (...list: readonly object[]) => ({ reasoning_details: list });

describe('opaque fields', () => {
  it('are those of a gateway, and not empty ones', () => {
    const fields = { reasoning_details: [], thinking_blocks: null, provider_specific_fields: { refusal: null } };
    expect(opaqueOfMessage({ content: 'x', ...fields })).toBeUndefined();
    expect(opaqueOfMessage({ content: 'x', thinking_blocks: [{}] })).toEqual({ thinking_blocks: [{}] });
    expect(opaqueOfCall({ function: null })).toBeUndefined();
  });

  it.each<[string, object, object, readonly object[]]>([
    [
      'pieces of a text',
      { type: 't', text: 'a', index: 0 },
      { type: 't', text: 'b', index: 0 },
      [{ type: 't', text: 'ab', index: 0 }],
    ],
    [
      'pieces without an index',
      { type: 't', text: 'a' },
      { type: 't', text: 'b', format: 'f' },
      [{ type: 't', text: 'ab', format: 'f' }],
    ],
    [
      'a signature',
      { type: 't', text: 'a', signature: '' },
      { type: 't', signature: 's' },
      [{ type: 't', text: 'a', signature: 's' }],
    ],
  ])('of a stream are joined: %s', (_name, before, next, joined) => {
    expect(mergeFields(details(before), details(next))).toEqual({ reasoning_details: joined });
  });

  it.each([
    ['a text after a signed one', { type: 't', text: 'a', signature: 's' }, { type: 't', text: 'b' }],
    ['texts of two indexes', { type: 't', text: 'a', index: 0 }, { type: 't', text: 'b', index: 1 }],
    ['encrypted blocks without an index', { type: 'e', data: 'a' }, { type: 'e', data: 'b' }],
    ['blocks without a type', { text: 'a' }, { text: 'b' }],
  ])('of a stream stay apart: %s', (_name, before, next) => {
    expect(mergeFields(details(before), details(next))).toEqual(details(before, next));
  });

  it('return to their owner only, each to its call', () => {
    const call = { call: { provider_specific_fields: { a: 1 } } };
    const signedReasoning = toSignedReasoning(OWNER, details({ type: 't' }), [undefined, call])!;
    const message = { role: 'assistant', content: '', signedReasoning } as const;
    const own = returnedFields(message, OWNER);
    expect([own.message, own.callAt(0), own.callAt(1)]).toEqual([details({ type: 't' }), undefined, call]);
    for (const other of [{ ...OWNER, model: 'n' }, { ...OWNER, provider: 'openai' }, undefined]) {
      const fields = returnedFields(message, other);
      expect([fields.message, fields.callAt(1)]).toEqual([undefined, undefined]);
    }
    expect(toSignedReasoning(OWNER, undefined, [undefined])).toBeUndefined();
  });
});
