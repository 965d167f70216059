import type { FakeRequest } from '../fake-llm.types.js';

type Fields = Readonly<Record<string, unknown>>;

function says(messages: readonly object[], more: Fields = {}): FakeRequest {
  const model = 'claude-sonnet-4-5';
  return { model, max_tokens: 100, messages: messages as FakeRequest['messages'], ...more };
}

const text = (words: string) => ({ type: 'text', text: words });
const user = { role: 'user', content: [text('add')] };
const answer = { role: 'assistant', content: [text('done')] };
const use = (id: string) => ({ type: 'tool_use', id, name: 'add', input: {} });
const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: '3' });
const calling = (...ids: string[]) => ({ role: 'assistant', content: ids.map(use) });
const results = (...ids: string[]) => ({ role: 'user', content: ids.map(result) });
const image = (media_type: string, data: string) => ({
  role: 'user',
  content: [{ type: 'image', source: { type: 'base64', media_type, data } }],
});
const having = (input_schema: unknown, name = 'add'): Fields => ({
  tools: [{ name, description: 'Adds.', input_schema }],
});
const PLAIN = { type: 'object', properties: { n: { type: 'number' } } };
const PAIRED = says([user, calling('a', 'b'), results('a', 'b'), answer, user]);
const THINKS: Fields = { thinking: { type: 'adaptive' } };
const thought = (more: Fields) => ({
  role: 'assistant',
  content: [{ type: 'thinking', thinking: 'x', ...more }, text('y')],
});

export const ANTHROPIC_EXAMPLES = {
  'anthropic/first-role': { rejected: [says([answer, user]), says([])], accepted: [says([user])] },
  'anthropic/roles': {
    rejected: [says([user, { role: 'system', content: 'x' }, user])],
    accepted: [says([user, answer, user])],
  },
  'anthropic/unanswered-call': { rejected: [says([user, calling('a', 'b'), results('a')])], accepted: [PAIRED] },
  'anthropic/orphan-result': { rejected: [says([user, answer, results('a')])], accepted: [PAIRED] },
  'anthropic/results-first': {
    rejected: [says([user, calling('a'), { role: 'user', content: [text('x'), result('a')] }])],
    accepted: [says([user, calling('a'), { role: 'user', content: [result('a'), text('x')] }])],
  },
  'anthropic/call-id-unique': {
    rejected: [says([user, calling('a'), results('a'), calling('a'), results('a')])],
    accepted: [PAIRED],
  },
  'anthropic/call-id': { rejected: [says([user, calling('a:0'), results('a:0')])], accepted: [PAIRED] },
  'anthropic/blank-text': {
    rejected: [says([{ role: 'user', content: [text(' \n')] }]), says([user], { system: '' })],
    accepted: [says([{ role: 'user', content: 'add' }], { system: 'Be kind.' })],
  },
  'anthropic/empty-content': { rejected: [says([user, { role: 'assistant', content: [] }, user])], accepted: [PAIRED] },
  'anthropic/prefill': {
    rejected: [says([user, answer], { model: 'claude-opus-4-6' })],
    accepted: [says([user, answer]), says([user], { model: 'claude-opus-4-6' })],
  },
  'anthropic/thinking-signature': {
    rejected: [says([user, thought({}), user])],
    accepted: [says([user, thought({ signature: 'S' }), user])],
  },
  'anthropic/surrogates': {
    rejected: [says([{ role: 'user', content: [text('cut \ud83d')] }])],
    accepted: [says([{ role: 'user', content: [text('😀')] }])],
  },
  'anthropic/tool-name': { rejected: [says([user], having(PLAIN, 'a b'))], accepted: [says([user], having(PLAIN))] },
  'anthropic/schema-object': {
    rejected: [says([user], having({}))],
    accepted: [says([user], having({ type: 'object' }))],
  },
  'anthropic/schema-root-union': {
    rejected: [says([user], having({ ...PLAIN, oneOf: [{ required: ['n'] }] }))],
    accepted: [says([user], having({ type: 'object', properties: { n: { oneOf: [{ type: 'string' }] } } }))],
  },
  'anthropic/property-name': {
    rejected: [says([user], having({ type: 'object', properties: { 'filter[id]': {} } }))],
    accepted: [says([user], having({ type: 'object', properties: { 'filter.id': {} } }))],
  },
  'anthropic/forced-call': {
    rejected: [says([user], { ...having(PLAIN), ...THINKS, tool_choice: { type: 'any' } })],
    accepted: [
      says([user], { ...having(PLAIN), ...THINKS, tool_choice: { type: 'auto' } }),
      says([user], { ...having(PLAIN), tool_choice: { type: 'any' } }),
    ],
  },
  'anthropic/max-tokens': { rejected: [says([user], { max_tokens: undefined })], accepted: [says([user])] },
  'anthropic/temperature-deprecated': {
    rejected: [says([user], { model: 'claude-opus-4-7', temperature: 0.5 })],
    accepted: [says([user], { model: 'claude-opus-4-7' }), says([user], { temperature: 0.5 })],
  },
  'anthropic/temperature-and-top-p': {
    rejected: [says([user], { temperature: 0.5, top_p: 0.5 })],
    accepted: [says([user], { top_p: 0.5 })],
  },
  'anthropic/temperature': {
    rejected: [says([user], { temperature: 1.5 })],
    accepted: [says([user], { temperature: 1 })],
  },
  'anthropic/unknown-fields': { rejected: [says([user], { seed: 1 })], accepted: [says([user], { stream: true })] },
  'anthropic/image-limits': {
    rejected: [says([image('image/png', `iVBOR${'A'.repeat(5_242_880)}`)])],
    accepted: [says([image('image/png', 'iVBORw0KGgo=')])],
  },
  'anthropic/image-type': {
    rejected: [says([image('image/png', '/9j/4AAQ')]), says([image('image/tiff', 'AAAA')])],
    accepted: [says([image('image/jpeg', '/9j/4AAQ')])],
  },
};
