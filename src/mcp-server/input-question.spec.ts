import { describe, expect, it } from 'vitest';
import type { JsonSchema } from '../kernel/json/index.js';
import type { WaitingRequest } from '../run/decision/index.js';
import { askClient, toInputQuestion } from './input-question.mapper.js';

const request = (schema?: JsonSchema): WaitingRequest => ({
  id: 'input:1:1',
  kind: 'input',
  step: 'tool:1:1',
  call_id: 'call_1',
  tool: 'choose',
  arguments: '{}',
  question: 'Which one?',
  ...(schema && { schema }),
  expires_at: null,
});

/** The form for a schema, and the interpretation of an answer to it. */
function formFor(schema: JsonSchema | undefined, content: unknown, action = 'accept') {
  const inputQuestion = toInputQuestion(request(schema), false);
  const { 'input:1:1': shown } = inputQuestion.requests;
  const form = shown?.params && 'requestedSchema' in shown.params ? shown.params.requestedSchema : undefined;
  return { form, answered: inputQuestion.answer({ 'input:1:1': { action, content } }) };
}

const SEVERAL = { type: 'array', items: { type: 'string', enum: ['a', 'b'] }, minItems: 1 };
const TITLED = { type: 'array', items: { anyOf: [{ const: 'a', title: 'The first' }] } };
const MIXED = { type: 'object', properties: { n: { type: 'integer' }, of: SEVERAL } };

describe('toInputQuestion() for a question of a tool', () => {
  const field = (answer: JsonSchema) => ({ type: 'object', properties: { answer }, required: ['answer'] });
  const object = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

  it.each<[string, JsonSchema | undefined, unknown, unknown, unknown]>([
    ['asks for a text without a schema', undefined, field({ type: 'string' }), { answer: 'x' }, 'x'],
    ['asks for a number', { type: 'integer' }, field({ type: 'integer' }), { answer: 3 }, 3],
    ['asks for a choice', { enum: ['a', 'b'] }, field({ type: 'string', enum: ['a', 'b'] }), { answer: 'a' }, 'a'],
    ['asks for plain fields', object, object, { city: 'Rome' }, { city: 'Rome' }],
    ['asks for several choices', SEVERAL, field(SEVERAL), { answer: ['a', 'b'] }, ['a', 'b']],
    ['asks for several titled choices', TITLED, field(TITLED), { answer: ['a'] }, ['a']],
    ['asks for several choices among other fields', MIXED, MIXED, { n: 1, of: ['b'] }, { n: 1, of: ['b'] }],
  ])('%s', (_name, schema, form, content, value) => {
    expect(formFor(schema, content)).toEqual({ form, answered: { kind: 'value', value } });
  });

  it('asks for a nested value as JSON text', () => {
    const schema = { type: 'array', items: { type: 'integer' } };
    const { form, answered } = formFor(schema, { answer: '[1,2]' });
    expect(form).toMatchObject(field({ type: 'string', description: expect.stringContaining('"integer"') }));
    expect(answered).toEqual({ kind: 'value', value: [1, 2] });
    expect(formFor(schema, { answer: '[1,' }).answered).toEqual({ kind: 'open' });
    expect(formFor({ enum: [1, 2] }, { answer: '2' }).answered).toEqual({ kind: 'value', value: 2 });
  });

  it('accepts a refusal, and leaves the question open after an invalid answer', () => {
    expect(formFor(undefined, undefined, 'decline').answered).toEqual({ kind: 'declined' });
    expect(formFor(undefined, undefined, 'cancel').answered).toEqual({ kind: 'declined' });
    for (const [content, action] of [
      [undefined, 'accept'],
      [[], 'accept'],
      [{}, 'accept'],
      [{ answer: 'x' }, 'perhaps'],
    ] as const) {
      expect(formFor(undefined, content, action).answered).toEqual({ kind: 'open' });
    }
    expect(toInputQuestion(request(), false).answer({ other: { action: 'accept' } })).toEqual({ kind: 'open' });
  });
});

describe('toInputQuestion() for requests of askClient()', () => {
  const roots = { method: 'roots/list' as const };
  const { schema } = askClient({ roots }).asked;

  it('passes the requests to the client and returns their answers as the value', () => {
    const inputQuestion = toInputQuestion(request(schema), false);
    expect([inputQuestion.requests, inputQuestion.isForClient]).toEqual([{ roots }, true]);
    expect(inputQuestion.answer({ roots: { roots: [] }, more: {} })).toEqual({
      kind: 'value',
      value: { roots: { roots: [] } },
    });
    expect(inputQuestion.answer({ roots: 7 })).toEqual({ kind: 'open' });
  });

  it('ignores the requests of a tool with untrusted schemas', () => {
    const inputQuestion = toInputQuestion(request(schema), true);
    expect([Object.keys(inputQuestion.requests), inputQuestion.isForClient]).toEqual([['input:1:1'], false]);
  });
});
