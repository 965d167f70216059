import type { FakeRequest } from '../fake-llm.types.js';
import { type AnthropicMessage, anthropicBody, generation, messagesOf, systemOf } from './anthropic-parts.js';
import { rulesOf, type ProviderRule } from './provider-rule.js';
import { isNode, type JsonNode } from './request-parts.js';

const rule = rulesOf(['anthropic'], anthropicBody);

const EFFORT = 'https://platform.claude.com/docs/en/build-with-claude/effort';
const CACHING = 'https://platform.claude.com/docs/en/build-with-claude/prompt-caching';
/** Claude Opus 4.5 is the first model with an effort; no other model before 4.6 has one. */
const WITH_EFFORT = /^claude-opus-4-5/;
const ALWAYS_THINKS = /^claude-(?:opus-5-5|fable|mythos)/;
const LEVELS: readonly unknown[] = ['low', 'medium', 'high', 'xhigh', 'max'];

function thinkingOf({ thinking }: FakeRequest): JsonNode {
  return isNode(thinking) ? thinking : {};
}

function effortOf({ output_config }: FakeRequest): unknown {
  return isNode(output_config) ? output_config['effort'] : undefined;
}

function isThinking(request: FakeRequest): boolean {
  return ['enabled', 'adaptive'].includes(String(thinkingOf(request)['type']));
}

/** Every block, tool and part that may have a mark. */
function markedNodes(request: FakeRequest): JsonNode[] {
  const blocks = [...systemOf(request), ...messagesOf(request).flatMap(({ content }) => content)];
  const tools = (request.tools ?? []) as unknown as readonly JsonNode[];
  return [...tools, ...blocks, request].filter((node) => node['cache_control'] !== undefined);
}

/** The last turn of calls, whose results end the request. */
function lastCalls(request: FakeRequest): AnthropicMessage | undefined {
  const messages = messagesOf(request);
  const hasResults = messages.at(-1)?.content.some(({ type }) => type === 'tool_result');
  return hasResults ? messages.findLast(({ role }) => role === 'assistant') : undefined;
}

export const ANTHROPIC_EFFORT_RULES: readonly ProviderRule[] = [
  rule(
    'cache-marks',
    'A request has at most four marks of the cache.',
    'https://github.com/tghamm/Anthropic.SDK/issues/50',
    (request) => {
      const count = markedNodes(request).length;
      return count <= 4
        ? undefined
        : { message: `A maximum of 4 blocks with cache_control may be provided. Found ${count}.` };
    },
  ),
  rule('cache-mark-block', 'A thinking block has no mark of the cache.', CACHING, (request) =>
    markedNodes(request).some(({ type }) => type === 'thinking' || type === 'redacted_thinking')
      ? { message: 'messages: thinking.cache_control: Extra inputs are not permitted' }
      : undefined,
  ),
  rule(
    'effort-model',
    'Claude takes an effort from Opus 4.5 and from 4.6 on.',
    'https://github.com/anthropics/claude-code/issues/30795',
    (request) =>
      effortOf(request) !== undefined && generation(request) < 4.6 && !WITH_EFFORT.test(request.model)
        ? { message: 'This model does not support the effort parameter.' }
        : undefined,
  ),
  rule('effort-level', 'The effort is low, medium, high, xhigh or max.', EFFORT, (request) =>
    effortOf(request) === undefined || LEVELS.includes(effortOf(request))
      ? undefined
      : { message: "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'" },
  ),
  rule(
    'thinking-off',
    'Opus 5.5, Fable and Mythos always think.',
    'https://platform.claude.com/docs/en/models/opus-5-5/migration-guide',
    (request) =>
      ALWAYS_THINKS.test(request.model) && thinkingOf(request)['type'] === 'disabled'
        ? {
            message:
              '"thinking.type.disabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
          }
        : undefined,
  ),
  rule(
    'thinking-budget-model',
    'From Claude 4.7 on, thinking has no budget.',
    'https://platform.claude.com/docs/en/models/opus-5-5/migration-guide',
    (request) =>
      generation(request) >= 4.7 && thinkingOf(request)['type'] === 'enabled'
        ? { message: '"thinking.type.enabled" is not supported for this model.' }
        : undefined,
  ),
  rule(
    'thinking-budget',
    'A budget of thinking is at least 1024 and less than max_tokens.',
    'https://github.com/themaximalist/llm.js/issues/30',
    (request) => {
      const budget = Number(thinkingOf(request)['budget_tokens'] ?? Number.NaN);
      if (budget < 1024)
        return { message: 'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024' };
      return budget >= Number(request['max_tokens'])
        ? { message: '`max_tokens` must be greater than `thinking.budget_tokens`.' }
        : undefined;
    },
  ),
  rule(
    'thinking-temperature',
    'A request that thinks has no temperature but 1.',
    'https://github.com/MayDay-wpf/snow-app/issues/42',
    (request) =>
      isThinking(request) && (request['temperature'] ?? 1) !== 1
        ? { message: '`temperature` may only be set to 1 when thinking is enabled or in adaptive mode.' }
        : undefined,
  ),
  rule(
    'thinking-first',
    'With a budget of thinking, the calls before the last results start with a thought.',
    'https://github.com/deepset-ai/haystack-core-integrations/issues/2146',
    (request) => {
      const first = lastCalls(request)?.content[0]?.type;
      return thinkingOf(request)['type'] === 'enabled' && first !== undefined && !first.includes('thinking')
        ? {
            message: `messages.1.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block.`,
          }
        : undefined;
    },
  ),
];
