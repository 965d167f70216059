import type { FakeRequest } from '../fake-llm.types.js';
import { EFFORT_EXAMPLES } from './effort-examples.js';

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
const CLOSED = { ...PLAIN, required: ['n'], additionalProperties: false };
const strict = (count: number, input_schema: unknown): Fields => ({
  tools: Array.from({ length: count }, (_, n) => ({
    name: `add_${n}`,
    description: 'Adds.',
    strict: true,
    input_schema,
  })),
});
const PAIRED = says([user, calling('a', 'b'), results('a', 'b'), answer, user]);
const THINKS: Fields = { thinking: { type: 'adaptive' } };
const thought = (more: Fields) => ({
  role: 'assistant',
  content: [{ type: 'thinking', thinking: 'x', ...more }, text('y')],
});

const MARK: Fields = { cache_control: { type: 'ephemeral' } };
const SIGNED = { type: 'thinking', thinking: 'x', signature: 'S' };
/** A message of the user with marked blocks. */
const marked = (count: number) => ({
  role: 'user',
  content: Array.from({ length: count }, () => ({ ...text('add'), ...MARK })),
});
const effort = (level: string): Fields => ({ output_config: { effort: level } });
const budget = (budget_tokens: number, max_tokens: number): Fields => ({
  thinking: { type: 'enabled', budget_tokens },
  max_tokens,
});

/** Examples of the rules of Anthropic, and of efforts. */
export const ANTHROPIC_EXAMPLES = {
  ...EFFORT_EXAMPLES,
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
  'anthropic/strict-tools': {
    rejected: [says([user], strict(21, CLOSED)), says([user], strict(1, PLAIN))],
    accepted: [says([user], strict(20, CLOSED))],
  },
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
  'anthropic/cache-marks': {
    rejected: [says([marked(1), answer, marked(2), answer, marked(2)])],
    accepted: [says([marked(1), answer, marked(2), answer, marked(1)])],
  },
  'anthropic/cache-mark-block': {
    rejected: [says([user, thought({ signature: 'S', ...MARK }), user])],
    accepted: [says([user, thought({ signature: 'S' }), marked(1)])],
  },
  'anthropic/effort-model': {
    rejected: [says([user], effort('low'))],
    accepted: ['claude-opus-4-5', 'claude-haiku-5-5'].map((model) => says([user], { model, ...effort('low') })),
  },
  'anthropic/effort-level': {
    rejected: [says([user], { model: 'claude-opus-5', ...effort('minimal') })],
    accepted: [says([user], { model: 'claude-opus-5', ...effort('max') })],
  },
  'anthropic/thinking-off': {
    rejected: [says([user], { model: 'claude-opus-5-5', thinking: { type: 'disabled' } })],
    accepted: [says([user], { model: 'claude-haiku-5-5', thinking: { type: 'disabled' } })],
  },
  'anthropic/thinking-budget-model': {
    rejected: [says([user], { model: 'claude-opus-4-7', ...budget(1024, 2000) })],
    accepted: [says([user], budget(1024, 2000))],
  },
  'anthropic/thinking-budget': {
    rejected: [says([user], budget(1000, 2000)), says([user], budget(2000, 2000))],
    accepted: [says([user], budget(1024, 2000))],
  },
  'anthropic/thinking-temperature': {
    rejected: [says([user], { ...THINKS, temperature: 0.7 })],
    accepted: [says([user], { ...THINKS, temperature: 1 }), says([user], { temperature: 0.7 })],
  },
  'anthropic/thinking-first': {
    rejected: [says([user, calling('a'), results('a')], budget(1024, 2000))],
    accepted: [
      says([user, { role: 'assistant', content: [SIGNED, use('a')] }, results('a')], budget(1024, 2000)),
      says([user, calling('a'), results('a'), answer, user], budget(1024, 2000)),
    ],
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
