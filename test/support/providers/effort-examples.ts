import type { FakeRequest } from '../fake-llm.types.js';

function asks(model: string, effort?: string): FakeRequest {
  return { model, messages: [{ role: 'user', content: 'add' }], ...(effort && { reasoning_effort: effort }) };
}

/** Rejected and accepted efforts of the providers with OpenAI's wire format. */
export const EFFORT_EXAMPLES = {
  'openai/effort-model': { rejected: [asks('gpt-4o', 'none')], accepted: [asks('gpt-4o'), asks('gpt-5', 'low')] },
  'openai/effort-level': {
    rejected: [asks('gpt-5.1', 'minimal'), asks('gpt-5', 'none')],
    accepted: [asks('gpt-5.1', 'none'), asks('gpt-5', 'minimal')],
  },
  'ollama/effort-level': { rejected: [asks('qwen3', 'minimal')], accepted: [asks('qwen3', 'none')] },
};
