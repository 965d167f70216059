import type { FakeRequest } from '../fake-llm.types.js';
import { encryptedContent } from '../../../src/testing/provider/response-object.mapper.js';

interface RuleExamples {
  readonly rejected: readonly FakeRequest[];
  readonly accepted: readonly FakeRequest[];
}

type Fields = Readonly<Record<string, unknown>>;
type Case = readonly [readonly object[], Fields?];

const MODEL = 'gpt-5.6-luna';
const user = { type: 'message', role: 'user', content: 'add' };
const answer = { type: 'message', role: 'assistant', content: 'done' };
const call = (id: string, more: Fields = {}) => ({
  type: 'function_call',
  call_id: id,
  name: 'add',
  arguments: '{}',
  ...more,
});
const output = (id: string, content: unknown = '3') => ({ type: 'function_call_output', call_id: id, output: content });
const reasoning = (id: string, more: Fields = {}) => ({
  type: 'reasoning',
  id,
  summary: [{ type: 'summary_text', text: 'sum' }],
  encrypted_content: encryptedContent(id, MODEL, 'sum'),
  ...more,
});
const image = (url: string) => ({ type: 'input_image', image_url: url, detail: 'auto' });
const looking = (...urls: string[]) => ({ type: 'message', role: 'user', content: urls.map(image) });
const PNG = 'data:image/png;base64,iVBORw0KGgo=';

function request([input, more]: Case, model = MODEL): FakeRequest {
  return { model, input, store: false, ...more } as unknown as FakeRequest;
}

function of(rejected: readonly Case[], accepted: readonly Case[], model = MODEL): RuleExamples {
  return { rejected: rejected.map((one) => request(one, model)), accepted: accepted.map((one) => request(one, model)) };
}

const PAIRED: Case = [[user, call('a'), output('a'), answer, user]];
const THOUGHTFUL: Case = [
  [
    user,
    reasoning('rs_1'),
    call('a', { id: 'fc_1' }),
    output('a'),
    reasoning('rs_2'),
    { ...answer, phase: 'final_answer' },
  ],
];
const PLAIN = { type: 'object', properties: { n: { type: 'number' } } };
const CLOSED = { ...PLAIN, required: ['n'], additionalProperties: false };

function tool(parameters: unknown, name = 'add', strict: boolean | null = false): Fields {
  return { type: 'function', name, description: 'Adds.', parameters, ...(strict !== null && { strict }) };
}

const having = (...tools: readonly Fields[]): Fields => ({ tools });
const within = (schema: unknown): Fields => having(tool({ type: 'object', properties: { n: schema } }));
const many = (count: number): Fields => having(...Array.from({ length: count }, (_, n) => tool(PLAIN, `add_${n}`)));
const tools = (rejected: Fields, accepted: Fields): RuleExamples => of([[[user], rejected]], [[[user], accepted]]);

function chat(parameters: unknown): FakeRequest {
  const called = { name: 'add', description: 'Adds.', parameters, strict: true };
  return {
    model: 'gpt-4o',
    messages: [{ role: 'user', content: 'add' }],
    tools: [{ type: 'function', function: called }],
  };
}

/** Examples of the rules of the Responses API, and of those for strict tools in both APIs. */
export const RESPONSES_EXAMPLES: Readonly<Record<string, RuleExamples>> = {
  'openai/strict-schema': {
    rejected: [chat(PLAIN), chat({ ...PLAIN, additionalProperties: false })],
    accepted: [chat(CLOSED)],
  },
  'responses/input-empty': of([[[]]], [[[user]]]),
  'responses/item-fields': of(
    [[[user, { ...answer, tool_calls: [] }]], [[user, { type: 'tool_result' }]]],
    [PAIRED, THOUGHTFUL],
  ),
  'responses/roles': of([[[user, { role: 'tool', content: '3' }]]], [[[{ role: 'developer', content: 'x' }, user]]]),
  'responses/content-parts': of(
    [
      [[{ ...answer, content: [{ type: 'input_text', text: 'x' }] }]],
      [[{ ...user, content: [{ type: 'text', text: 'x' }] }]],
    ],
    [[[{ ...user, content: [{ type: 'input_text', text: 'x' }] }]]],
  ),
  'responses/unanswered-call': of([[[user, call('a'), user]], [[user, output('a'), call('a')]]], [PAIRED]),
  'responses/orphan-output': of([[[user, output('a')]]], [PAIRED]),
  'responses/call-id-length': of(
    [[[user, call('x'.repeat(65)), output('x'.repeat(65))]]],
    [[[user, call('x'.repeat(64)), output('x'.repeat(64))]]],
  ),
  'responses/item-id': of([[[user, reasoning('rs_1'), call('a', { id: 'call_1' }), output('a')]]], [THOUGHTFUL]),
  'responses/item-twice': of(
    [[[user, reasoning('rs_1'), answer, user, reasoning('rs_1'), answer]]],
    [[[user, reasoning('rs_1'), answer, user, reasoning('rs_2'), answer]]],
  ),
  'responses/image-limits': of(
    [[[looking('data:image/tiff;base64,AAAA')]], [[looking(...Array.from({ length: 501 }, () => PNG))]]],
    [[[looking(PNG, 'https://example.com/a.png')]], [[user, call('a'), output('a', [image(PNG)])]]],
  ),
  'responses/orphan-reasoning': of([[[user, reasoning('rs_1')]], [[user, reasoning('rs_1'), user]]], [THOUGHTFUL]),
  'responses/reasoning-of-item': of([[[user, call('a', { id: 'fc_1' }), output('a')]]], [THOUGHTFUL, PAIRED]),
  'responses/encrypted-content': of([[[user, reasoning('rs_1', { encrypted_content: null }), answer]]], [THOUGHTFUL]),
  'responses/encrypted-unchanged': of(
    [
      [[user, reasoning('rs_1', { encrypted_content: 'changed' }), answer]],
      [[user, reasoning('rs_1', { encrypted_content: encryptedContent('rs_1', 'gpt-6', 'sum') }), answer]],
      [[user, reasoning('rs_1', { summary: [] }), answer]],
    ],
    [THOUGHTFUL],
  ),
  'responses/encrypted-include': of([[[user], { include: ['reasoning.encrypted_content'] }]], [[[user]]], 'gpt-4o'),
  'responses/reasoning-field': of([[[user], { reasoning: { summary: 'auto' } }]], [[[user]]], 'gpt-4o'),
  'responses/effort-level': of(
    [[[user], { reasoning: { effort: 'none' } }]],
    [[[user], { reasoning: { effort: 'minimal' } }]],
    'gpt-5',
  ),
  'responses/unknown-fields': of(
    [
      [[user], { messages: [] }],
      [[user], { stop: ['x'] }],
      [[user], { reasoning_effort: 'low' }],
    ],
    [[[user], { reasoning: { summary: 'auto' }, include: ['reasoning.encrypted_content'] }]],
  ),
  'responses/max-output-tokens': of([[[user], { max_output_tokens: 15 }]], [[[user], { max_output_tokens: 16 }]]),
  'responses/sampling': of(
    [
      [[user], { temperature: 1 }],
      [[user], { top_p: 0.5 }],
    ],
    [[[user]]],
  ),
  'responses/json-word': of(
    [[[user], { text: { format: { type: 'json_object' } } }]],
    [[[{ ...user, content: 'as JSON' }], { text: { format: { type: 'json_object' } } }]],
  ),
  'responses/tool-form': tools(
    having({ type: 'function', function: { name: 'add', parameters: PLAIN } }),
    having(tool(PLAIN)),
  ),
  'responses/strict-schema': of(
    [
      [[user], having(tool(PLAIN, 'add', null))],
      [[user], having(tool(PLAIN, 'add', true))],
      [[user], having(tool({ ...CLOSED, required: [] }, 'add', true))],
    ],
    [
      [[user], having(tool(PLAIN))],
      [[user], having(tool(CLOSED, 'add', true))],
    ],
  ),
  'responses/tool-count': tools(many(129), many(128)),
  'responses/tool-name': of(
    [[[user], having(tool(PLAIN, 'a b'))], [[user, call('a', { name: 'a.b' }), output('a')]]],
    [[[user], having(tool(PLAIN, 'x'.repeat(64)))]],
  ),
  'responses/schema-object': tools(having(tool({})), having(tool(PLAIN))),
  'responses/schema-properties': tools(
    having(tool({ type: 'object' })),
    having(tool({ type: 'object', properties: {} })),
  ),
  'responses/schema-root-union': tools(
    having(tool({ ...PLAIN, anyOf: [{ required: ['n'] }] })),
    within({ anyOf: [{ type: 'string' }, { type: 'number' }] }),
  ),
  'responses/schema-array-items': tools(
    within({ type: 'array' }),
    within({ type: 'array', items: { type: 'string' } }),
  ),
  'responses/tool-choice-without-tools': tools(
    { tool_choice: 'none' },
    { ...having(tool(PLAIN)), tool_choice: 'none' },
  ),
};
