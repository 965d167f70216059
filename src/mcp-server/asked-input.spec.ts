import { describe, expect, it } from '@jest/globals';
import type { JsonSchema } from '../common/index.js';
import type { WaitingRequest } from '../run/index.js';
import { askClient } from './ask-client.factory.js';
import { toAskedInput } from './asked-input.mapper.js';

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

/** The form that is shown for a schema, and what an answer to it means. */
function formFor(schema: JsonSchema | undefined, content: unknown, action = 'accept') {
  const asked = toAskedInput(request(schema), false);
  const { 'input:1:1': shown } = asked.requests;
  const form = shown?.params && 'requestedSchema' in shown.params ? shown.params.requestedSchema : undefined;
  return { form, said: asked.answer({ 'input:1:1': { action, content } }) };
}

describe('the question of a tool, as a form', () => {
  const field = (answer: JsonSchema) => ({ type: 'object', properties: { answer }, required: ['answer'] });
  const object = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

  it.each<[string, JsonSchema | undefined, unknown, unknown, unknown]>([
    ['of no shape', undefined, field({ type: 'string' }), { answer: 'x' }, 'x'],
    ['of a number', { type: 'integer' }, field({ type: 'integer' }), { answer: 3 }, 3],
    ['of a choice', { enum: ['a', 'b'] }, field({ type: 'string', enum: ['a', 'b'] }), { answer: 'a' }, 'a'],
    ['of plain fields', object, object, { city: 'Rome' }, { city: 'Rome' }],
  ])('%s', (_name, schema, form, content, value) => {
    expect(formFor(schema, content)).toEqual({ form, said: { kind: 'value', value } });
  });

  it('of anything nested is a text in JSON', () => {
    const schema = { type: 'array', items: { type: 'integer' } };
    const { form, said } = formFor(schema, { answer: '[1,2]' });
    expect(form).toMatchObject(field({ type: 'string', description: expect.stringContaining('"integer"') }));
    expect(said).toEqual({ kind: 'value', value: [1, 2] });
    expect(formFor(schema, { answer: '[1,' }).said).toEqual({ kind: 'open' });
    expect(formFor({ enum: [1, 2] }, { answer: '2' }).said).toEqual({ kind: 'value', value: 2 });
  });

  it('may be declined, and what is no answer leaves it open', () => {
    expect(formFor(undefined, undefined, 'decline').said).toEqual({ kind: 'declined' });
    expect(formFor(undefined, undefined, 'cancel').said).toEqual({ kind: 'declined' });
    for (const [content, action] of [
      [undefined, 'accept'],
      [[], 'accept'],
      [{}, 'accept'],
      [{ answer: 'x' }, 'perhaps'],
    ] as const) {
      expect(formFor(undefined, content, action).said).toEqual({ kind: 'open' });
    }
    expect(toAskedInput(request(), false).answer({ other: { action: 'accept' } })).toEqual({ kind: 'open' });
  });
});

describe('the requests of askClient', () => {
  const roots = { method: 'roots/list' as const };
  const { schema } = askClient({ roots }).asked;

  it('are what the client is asked, and their answers the value', () => {
    const asked = toAskedInput(request(schema), false);
    expect([asked.requests, asked.isForClient]).toEqual([{ roots }, true]);
    expect(asked.answer({ roots: { roots: [] }, more: {} })).toEqual({
      kind: 'value',
      value: { roots: { roots: [] } },
    });
    expect(asked.answer({ roots: 7 })).toEqual({ kind: 'open' });
  });

  it('are not believed of a tool whose schemas are a stranger’s', () => {
    const asked = toAskedInput(request(schema), true);
    expect([Object.keys(asked.requests), asked.isForClient]).toEqual([['input:1:1'], false]);
  });
});
