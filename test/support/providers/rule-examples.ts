import type { FakeRequest } from '../fake-llm.types.js';
import { nestedSchema } from '../nested-schema.js';
import { ANTHROPIC_EXAMPLES } from './anthropic-examples.js';
import { RESPONSES_EXAMPLES } from './responses-examples.js';

interface RuleExamples {
  readonly rejected: readonly FakeRequest[];
  readonly accepted: readonly FakeRequest[];
}

type Fields = Readonly<Record<string, unknown>>;

const system = { role: 'system', content: 'Answer in JSON.' };
const user = { role: 'user', content: 'add' };
const answer = { role: 'assistant', content: 'done' };
const PNG = 'data:image/png;base64,iVBORw0KGgo=';

function calling(id: string, more: Fields = {}, name = 'add', args = '{}') {
  return {
    role: 'assistant',
    content: null,
    tool_calls: [{ id, type: 'function', function: { name, arguments: args } }],
    ...more,
  };
}

const result = (id: string, name = 'add') => ({ role: 'tool', tool_call_id: id, name, content: '3' });
const looking = (...urls: string[]) => ({
  role: 'user',
  content: urls.map((url) => ({ type: 'image_url', image_url: { url } })),
});

function says(model: string, messages: readonly object[], more: Fields = {}): FakeRequest {
  return { model, messages: messages as FakeRequest['messages'], ...more };
}

function tool(parameters: unknown, name = 'add', description = 'Adds.') {
  return { type: 'function', function: { name, description, parameters } };
}

const PLAIN = { type: 'object', properties: { n: { type: 'number' } } };
const having = (schema: unknown, name?: string, description?: string): Fields => ({
  tools: [tool(schema, name, description)],
});
const within = (schema: unknown): Fields => having({ type: 'object', properties: { n: schema } });
const many = (count: number): Fields => ({ tools: Array.from({ length: count }, (_, n) => tool(PLAIN, `add_${n}`)) });
const texts = (count: number): string[] => Array.from({ length: count }, (_, n) => `stop ${n}`);

function of(model: string, rejected: readonly Case[], accepted: readonly Case[]): RuleExamples {
  const toRequest = ([messages, more]: Case) => says(model, messages, more);
  return { rejected: rejected.map(toRequest), accepted: accepted.map(toRequest) };
}

function schemas(model: string, rejected: unknown, accepted: unknown): RuleExamples {
  return of(model, [[[user], within(rejected)]], [[[user], within(accepted)]]);
}

type Case = readonly [readonly object[], Fields?];

const PAIRED: Case = [[user, calling('abcdefgh1'), result('abcdefgh1'), answer, user]];
const UNANSWERED: Case = [[user, calling('abcdefgh1'), user]];
const ORPHAN: Case = [[user, answer, result('abcdefgh1'), user]];
const forced: Fields = { ...having(PLAIN), tool_choice: 'required' };
const optional: Fields = { ...having(PLAIN), tool_choice: 'auto' };
const thoughtful = calling('abcdefgh1', { reasoning_content: '' });
const THOUGHTFUL: Case = [[user, thoughtful, result('abcdefgh1'), { ...answer, reasoning_content: '' }, user]];
const signed = (signature?: string) => ({
  role: 'assistant',
  content: null,
  tool_calls: [
    {
      id: 'fc1',
      type: 'function',
      function: { name: 'add', arguments: '{}' },
      ...(signature && { extra_content: { google: { thought_signature: signature } } }),
    },
  ],
});
const EMPTY = { role: 'assistant', content: '' };
const BIG = `data:image/png;base64,${'A'.repeat(28 * 1024 * 1024)}`;
const MODELS = { gpt: 'gpt-4o', deep: 'deepseek-v4-flash', kimi: 'kimi-k2.6', glm: 'glm-4.7', qwen: 'qwen3.5-plus' };

const OPENAI_EXAMPLES: Readonly<Record<string, RuleExamples>> = {
  'openai/messages-empty': of(MODELS.gpt, [[[]]], [[[user]]]),
  'openai/unanswered-call': of(
    MODELS.gpt,
    [UNANSWERED, [[user, calling('a')]]],
    [PAIRED, [[user, calling('a'), result('a')]]],
  ),
  'openai/orphan-result': of(MODELS.gpt, [ORPHAN, [[user, calling('a'), result('a'), result('a')]]], [PAIRED]),
  'openai/content-null': of(MODELS.gpt, [[[user, { role: 'assistant', content: null }]]], [PAIRED]),
  'openai/call-id-length': of(
    MODELS.gpt,
    [[[user, calling('x'.repeat(41)), result('x'.repeat(41))]]],
    [[[user, calling('x'.repeat(40)), result('x'.repeat(40))]]],
  ),
  'openai/image-limits': of(
    MODELS.gpt,
    [[[looking('data:image/tiff;base64,AAAA')]], [[looking(BIG)]], [[looking(...texts(501))]]],
    [[[looking(PNG, 'https://example.com/a.png')]]],
  ),
  'openai/max-tokens-name': of('gpt-5.6-luna', [[[user], { max_tokens: 9 }]], [[[user], { max_completion_tokens: 9 }]]),
  'openai/temperature': of('gpt-5-mini', [[[user], { temperature: 0.7 }]], [[[user], { temperature: 1 }], [[user]]]),
  'openai/sampling': of(
    'o3',
    [
      [[user], { top_p: 0.5 }],
      [[user], { stop: ['x'] }],
    ],
    [[[user]]],
  ),
  'openai/reasoning-beside-tools': of(
    'gpt-5.6-luna',
    [[[user], having(PLAIN)]],
    [[[user], { ...having(PLAIN), reasoning_effort: 'none' }]],
  ),
  'openai/stop-count': of(MODELS.gpt, [[[user], { stop: texts(5) }]], [[[user], { stop: texts(4) }]]),
  'openai/json-word': of(
    MODELS.gpt,
    [[[user], { response_format: { type: 'json_object' } }]],
    [[[system, user], { response_format: { type: 'json_object' } }]],
  ),
  'openai/tool-count': of(MODELS.gpt, [[[user], many(129)]], [[[user], many(128)]]),
  'openai/tool-name': of(
    MODELS.gpt,
    [
      [[user], having(PLAIN, 'a b')],
      [[user], having(PLAIN, 'x'.repeat(65))],
      [[user, calling('a', {}, 'a.b'), result('a')]],
    ],
    [[[user], having(PLAIN, 'x'.repeat(64))]],
  ),
  'openai/schema-object': of(MODELS.gpt, [[[user], having({})]], [[[user], having(PLAIN)]]),
  'openai/schema-properties': of(
    MODELS.gpt,
    [[[user], having({ type: 'object' })]],
    [[[user], having({ type: 'object', properties: {} })]],
  ),
  'openai/schema-root-union': of(
    MODELS.gpt,
    [[[user], having({ ...PLAIN, anyOf: [{ required: ['n'] }] })]],
    [[[user], within({ anyOf: [{ type: 'string' }, { type: 'number' }] })]],
  ),
  'openai/schema-array-items': of(
    MODELS.gpt,
    [[[user], within({ type: 'array' })]],
    [[[user], within({ type: 'array', items: { type: 'string' } })]],
  ),
  'openai/tool-choice-without-tools': of(MODELS.gpt, [[[user], { tool_choice: 'none' }]], [[[user], forced]]),
  'azure/tool-description': of(
    MODELS.gpt,
    [[[user], having(PLAIN, 'add', 'x'.repeat(1025))]],
    [[[user], having(PLAIN, 'add', 'x'.repeat(1024))]],
  ),
};

const CHINESE_EXAMPLES: Readonly<Record<string, RuleExamples>> = {
  'deepseek/reasoning-echo': of(
    MODELS.deep,
    [PAIRED, [[user, thoughtful, result('abcdefgh1'), answer, user]]],
    [THOUGHTFUL, [[user, answer, user]]],
  ),
  'deepseek/forced-call': of(MODELS.deep, [[[user], forced]], [[[user], optional]]),
  'deepseek/roles': of(MODELS.deep, [[[{ role: 'developer', content: 'x' }, user]]], [[[system, user]]]),
  'deepseek/images': of(MODELS.deep, [[[looking(PNG)]]], [[[user]]]),
  'deepseek/empty-assistant': of(MODELS.deep, [[[user, EMPTY, user]]], [[[user, answer, user]]]),
  'deepseek/unanswered-call': of('deepseek-chat', [UNANSWERED], [PAIRED]),
  'deepseek/orphan-result': of('deepseek-chat', [ORPHAN], [PAIRED]),
  'deepseek/schema-object': of(MODELS.deep, [[[user], having({})]], [[[user], having({ type: 'object' })]]),
  'deepseek/tool-name': of(MODELS.deep, [[[user], having(PLAIN, 'a.b')]], [[[user], having(PLAIN)]]),
  'deepseek/tool-count': of(MODELS.deep, [[[user], many(129)]], [[[user], many(128)]]),
  'deepseek/stop-count': of(MODELS.deep, [[[user], { stop: texts(17) }]], [[[user], { stop: texts(16) }]]),
  'deepseek/surrogates': of(
    MODELS.deep,
    [[[{ role: 'user', content: 'cut \ud83d' }]]],
    [[[{ role: 'user', content: '😀' }]]],
  ),
  'moonshot/empty-assistant': of(MODELS.kimi, [[[user, EMPTY, user]]], [[[user, answer, user]]]),
  'moonshot/empty-user': of(MODELS.kimi, [[[{ role: 'user', content: '' }]]], [[[user]]]),
  'moonshot/reasoning-echo': of(MODELS.kimi, [PAIRED], [THOUGHTFUL]),
  'moonshot/temperature': of(MODELS.kimi, [[[user], { temperature: 0.7 }]], [[[user], { temperature: 1 }], [[user]]]),
  'moonshot/top-p': of(MODELS.kimi, [[[user], { top_p: 0.5 }]], [[[user], { top_p: 0.95 }]]),
  'moonshot/forced-call': of(MODELS.kimi, [[[user], forced]], [[[user], optional]]),
  'moonshot/tool-count': of(MODELS.kimi, [[[user], many(129)]], [[[user], many(128)]]),
  'moonshot/schema-depth': of(MODELS.kimi, [[[user], having(nestedSchema(11))]], [[[user], having(nestedSchema(10))]]),
  'moonshot/tool-name': of(MODELS.kimi, [[[user], having(PLAIN, '21st')]], [[[user], having(PLAIN)]]),
  'moonshot/schema-object': of(MODELS.kimi, [[[user], having({ enum: [1] })]], [[[user], having(PLAIN)]]),
  'moonshot/schema-union-type': of(
    MODELS.kimi,
    [[[user], within({ type: 'string', anyOf: [{ type: 'string' }] })]],
    [[[user], within({ anyOf: [{ type: 'string' }, { type: 'number' }] })]],
  ),
  'moonshot/schema-type': of(
    MODELS.kimi,
    [[[user], within({ description: 'any' })]],
    [[[user], within({ enum: ['a'] })]],
  ),
  'moonshot/schema-required': of(
    MODELS.kimi,
    [[[user], having({ ...PLAIN, required: ['m'] })]],
    [[[user], having({ ...PLAIN, required: ['n'] })]],
  ),
  'glm/user-message': of(MODELS.glm, [[[system]]], [[[system, user]]]),
  'glm/pairs': of(MODELS.glm, [UNANSWERED, ORPHAN], [PAIRED]),
  'glm/empty-user': of(MODELS.glm, [[[{ role: 'user', content: '' }]]], [[[user]]]),
  'glm/temperature': of(MODELS.glm, [[[user], { temperature: 1.2 }]], [[[user], { temperature: 1 }]]),
  'glm/stop-count': of(MODELS.glm, [[[user], { stop: texts(2) }]], [[[user], { stop: texts(1) }]]),
  'glm/tool-choice': of(MODELS.glm, [[[user], forced]], [[[user], optional]]),
  'glm/tool-count': of(MODELS.glm, [[[user], many(129)]], [[[user], many(128)]]),
  'glm/image-limits': of('glm-4.5v', [[[looking(BIG)]]], [[[looking(PNG)]]]),
  'qwen/orphan-result': of(MODELS.qwen, [ORPHAN], [PAIRED]),
  'qwen/unanswered-call': of(MODELS.qwen, [UNANSWERED], [PAIRED]),
  'qwen/forced-call': of(MODELS.qwen, [[[user], forced]], [[[user], optional]]),
  'qwen/thinking-streams': of(
    'qwen3-32b',
    [[[user]]],
    [
      [[user], { stream: true }],
      [[user], { enable_thinking: false }],
    ],
  ),
};

const MISTRAL = 'mistral-small';
const GEMINI = 'gemini-3-flash';
const BRIDGED: Case = [[system, user, calling('abcdefgh1'), result('abcdefgh1'), answer, user]];

const OTHER_EXAMPLES: Readonly<Record<string, RuleExamples>> = {
  'mistral/role-order': of(
    MISTRAL,
    [[[user, calling('abcdefgh1'), result('abcdefgh1'), user]], [[user, answer, system, user]]],
    [BRIDGED],
  ),
  'mistral/last-role': of(MISTRAL, [[[user, answer]]], [[[user]], PAIRED]),
  'mistral/call-id': of(MISTRAL, [[[user, calling('call_1'), result('call_1')]]], [PAIRED]),
  'mistral/pairs': of(MISTRAL, [UNANSWERED, ORPHAN], [PAIRED]),
  'mistral/empty-assistant': of(MISTRAL, [[[user, EMPTY, user]]], [[[user, answer, user]]]),
  'mistral/tool-name': of(MISTRAL, [[[user], having(PLAIN, 'a.b')]], [[[user], having(PLAIN)]]),
  'mistral/unknown-fields': of(
    MISTRAL,
    [
      [[user], { seed: 1 }],
      [[user], { max_completion_tokens: 1 }],
      [[user, { ...answer, reasoning_content: 'x' }, user]],
    ],
    [[[user], { max_tokens: 1, random_seed: 1 }]],
  ),
  'mistral/image-limits': of(MISTRAL, [[[looking(...Array.from({ length: 9 }, () => PNG))]]], [[[looking(PNG)]]]),
  'gemini/thought-signature': of(
    GEMINI,
    [[[user, signed(), result('fc1')]]],
    [[[user, signed('SIG=='), result('fc1')]], [[user, signed(), result('fc1'), answer, user]]],
  ),
  'gemini/call-order': of(
    GEMINI,
    [[[system, signed('S'), result('fc1'), user]]],
    [[[user, signed('S'), result('fc1')]]],
  ),
  'gemini/pairs': of(GEMINI, [[[user, signed('S'), user]], ORPHAN], [PAIRED]),
  'gemini/result-name': of(GEMINI, [[[user, signed('S'), result('fc1', '')]]], [[[user, signed('S'), result('fc1')]]]),
  'gemini/empty-content': of(GEMINI, [[[user, EMPTY, user]]], [[[user, answer, user]]]),
  'gemini/contents': of(GEMINI, [[[system]]], [[[system, user]]]),
  'gemini/schema-type-list': schemas(GEMINI, { type: ['string', 'null'] }, { type: 'string' }),
  'gemini/schema-enum': schemas(GEMINI, { type: 'integer', enum: [1] }, { type: 'string', enum: ['a'] }),
  'gemini/schema-keywords': schemas(GEMINI, { const: 'a' }, { type: 'string', pattern: '^a' }),
  'gemini/schema-format': schemas(GEMINI, { type: 'string', format: 'uri' }, { type: 'string', format: 'date-time' }),
  'gemini/tool-count': of(GEMINI, [[[user], many(513)]], [[[user], many(512)]]),
  'gemini/tool-name': of(GEMINI, [[[user], having(PLAIN, '1st')]], [[[user], having(PLAIN, 'a.b')]]),
  'gemini/penalties': of(GEMINI, [[[user], { frequency_penalty: 1 }]], [[[user], { temperature: 1 }]]),
  'gemini/format-beside-tools': of(
    'gemini-2.5-flash',
    [[[user], { ...having(PLAIN), response_format: { type: 'json_object' } }]],
    [
      [[user], { response_format: { type: 'json_object' } }],
      [[user], having(PLAIN)],
    ],
  ),
  'gemini/image-limits': of(
    GEMINI,
    [[[looking('data:image/gif;base64,R0lGOD')]], [[looking(BIG)]]],
    [[[looking(PNG)]]],
  ),
  'ollama/content-null': of('qwen3', [[[user, { role: 'assistant', content: null }]]], [PAIRED]),
  'ollama/arguments': of('qwen3', [[[user, calling('a', {}, 'add', '{"a":'), result('a')]]], [PAIRED]),
  'ollama/image-url': of('qwen3-vl', [[[looking('https://example.com/a.png')]]], [[[looking(PNG)]]]),
  'ollama/image-type': of('qwen3-vl', [[[looking('data:image/gif;base64,R0lGOD')]]], [[[looking(PNG)]]]),
  'vllm/alternation': of('mistral-7b', [[[user, user]], [[user, calling('a'), result('a'), user]]], [PAIRED]),
  'vllm/leading-system': of('qwen3.6-27b', [[[user, answer, system, user]]], [[[system, user]]]),
  'vllm/arguments': of('qwen3.6-27b', [[[user, calling('a', {}, 'add', '{"a":'), result('a')]]], [PAIRED]),
  'vllm/pairs': of('mistral-7b', [UNANSWERED, ORPHAN], [PAIRED]),
};

/** Examples of every rule, by id. */
export const RULE_EXAMPLES: Readonly<Record<string, RuleExamples>> = {
  ...OPENAI_EXAMPLES,
  ...RESPONSES_EXAMPLES,
  ...CHINESE_EXAMPLES,
  ...OTHER_EXAMPLES,
  ...ANTHROPIC_EXAMPLES,
};
