import { STRICT_MODELS, type Move, type ProviderSession } from './provider-session-plan.js';
import type { PlannedReply, PlannedTurn, Talk } from './talk-plan.js';

const PLAIN: Omit<Move, 'model'> = {
  isStreamed: false,
  images: [],
  hasReasoning: false,
  parameters: {},
  toolChoice: undefined,
  tail: '',
};

const CALL: PlannedReply = { kind: 'calls', text: '', calls: [{ name: 'good', id: 'call_0', text: '1' }] };
const FAILURE: PlannedReply = { kind: 'error', text: '', calls: [] };
const BAD_CALL = { id: 'a', name: 'good', arguments: 'no JSON' };

function turn(...replies: readonly PlannedReply[]): PlannedTurn {
  const agent = {
    protocol: 'native',
    policy: 'sliding_window',
    includeToolCalls: true,
    isSmall: false,
    isHasty: false,
  } as const;
  return { kind: 'turn', query: 'hello', agent, replies, summary: null, references: [] };
}

/** Turns with one model. */
function session(name: string, turns: readonly PlannedTurn[] = [turn()], more: Partial<Move> = {}): ProviderSession {
  const model = STRICT_MODELS.find(({ model: one }) => one === name)!;
  return { talk: { imported: null, events: turns }, moves: [{ ...PLAIN, model, ...more }] };
}

/** A turn after an imported one. */
function imported(name: string, ...messages: NonNullable<Talk['imported']>[number]['messages']): ProviderSession {
  const { talk, moves } = session(name);
  const past = [{ run_id: 'imported-0', status: 'completed' as const, created_at: 1, messages }];
  return { talk: { ...talk, imported: past }, moves };
}

const called = [turn(CALL), turn()];

/** Short sessions whose requests broke a rule before its repair, by the id of the rule. */
export const FAULT_SESSIONS: Readonly<Record<string, ProviderSession>> = {
  'openai/temperature': session('prod-chat'),
  'openai/sampling': session('prod-chat', [{ ...turn(), agent: { ...turn().agent, protocol: 'react' } }]),
  'openai/schema-properties': session('gpt-4o'),
  'openai/schema-root-union': session('gpt-4o'),
  'openai/schema-array-items': session('gpt-4o'),
  'azure/tool-description': session('prod-chat'),
  'deepseek/reasoning-echo': session('deepseek-v4-flash', called),
  'deepseek/surrogates': session('deepseek-v4-flash', [turn()], { tail: '\ud83d' }),
  'moonshot/reasoning-echo': session('kimi-k2.6', called),
  'moonshot/temperature': session('kimi-k2.6'),
  'moonshot/top-p': session('kimi-k2.6', [turn()], { parameters: { topP: 0.5 } }),
  'moonshot/forced-call': session('kimi-k2.6', [turn()], { toolChoice: 'required' }),
  'moonshot/tool-name': session('kimi-k2.6'),
  'moonshot/schema-depth': session('kimi-k2.6'),
  'moonshot/schema-union-type': session('kimi-k2.6'),
  'moonshot/schema-type': session('kimi-k2.6'),
  'moonshot/schema-required': session('kimi-k2.6'),
  'qwen/forced-call': session('qwen3.5-plus', [turn()], { toolChoice: 'required' }),
  'qwen/thinking-streams': session('qwen3-32b'),
  'mistral/role-order': session('mistral-small', [turn(CALL, FAILURE), turn()]),
  'mistral/call-id': session('mistral-small', called),
  'mistral/unknown-fields': session('mistral-small', [turn()], { isStreamed: true }),
  'gemini/thought-signature': session('gemini-3-flash', called),
  'gemini/call-order': imported(
    'gemini-3-flash',
    { role: 'user', content: 'x' },
    { role: 'assistant', content: 'y' },
    { role: 'assistant', content: '', tool_calls: [{ ...BAD_CALL, arguments: '{}' }] },
    { role: 'tool', tool_call_id: 'a', name: 'good', content: '1' },
  ),
  'gemini/schema-type-list': session('gemini-3-flash'),
  'gemini/schema-keywords': session('gemini-3-flash'),
  'gemini/schema-format': session('gemini-3-flash'),
  'gemini/schema-enum': session('gemini-3-flash'),
  'gemini/tool-name': session('gemini-3-flash'),
  'gemini/penalties': session('gemini-3-flash', [turn()], { parameters: { frequencyPenalty: 1 } }),
  'ollama/arguments': imported(
    'qwen3-vl',
    { role: 'user', content: 'x' },
    { role: 'assistant', content: '', tool_calls: [BAD_CALL] },
    { role: 'tool', tool_call_id: 'a', name: 'good', content: '1' },
  ),
  'ollama/image-type': session('qwen3-vl', [turn()], { images: ['gif'] }),
  'vllm/alternation': session('mistral-7b-instruct', [turn(FAILURE), turn()]),
  'vllm/leading-system': imported(
    'mistral-7b-instruct',
    { role: 'user', content: 'x' },
    { role: 'assistant', content: 'y' },
    { role: 'system', content: 'z' },
  ),
  'vllm/arguments': imported(
    'mistral-7b-instruct',
    { role: 'user', content: 'x' },
    { role: 'assistant', content: '', tool_calls: [BAD_CALL] },
    { role: 'tool', tool_call_id: 'a', name: 'good', content: '1' },
  ),
  'anthropic/property-name': session('claude-sonnet-4-5'),
  'anthropic/schema-root-union': session('claude-sonnet-4-5'),
  'anthropic/surrogates': session('claude-sonnet-4-5', [turn()], { tail: '\ud83d' }),
};
