import type { ChatRequest, Effort } from '../../chat/chat.types.js';
import type { Message } from '../../chat/message.types.js';
import { defaultMaxTokens, effortKindOf, thinksByDefault } from './capabilities.mapper.js';

/** The fields of a request that express its effort. */
interface EffortFields {
  /** `output_config.effort` */
  readonly effort?: Effort;
  readonly thinking?: Readonly<Record<string, unknown>>;
}

/** Without it, the reasoning of newer models is empty. */
const ADAPTIVE = { type: 'adaptive', display: 'summarized' };
/** Smallest budget (SDK, `ThinkingConfigEnabled`). */
const MIN_BUDGET = 1024;
/** Parts of `max_tokens` for thinking (openrouter.ai, "Reasoning tokens"). */
const SHARES: Readonly<Record<Exclude<Effort, 'none'>, number>> = {
  minimal: 0.1,
  low: 0.2,
  medium: 0.5,
  high: 0.8,
  xhigh: 0.9,
  max: 0.95,
};
/** Cannot turn thinking off, but the thinking before the first text (platform.claude.com, "What's new in Sonnet 5.5"). */
const BETWEEN_TOOLS = /claude-sonnet-5[-.]5/i;

/** The effort of a request as its model expects it. */
export function toEffortFields(request: ChatRequest, model: string): EffortFields {
  const effort = request.parameters?.effort;
  const byDefault = thinksByDefault(model);
  if (effort === 'none') return byDefault ? { thinking: turnedOff(model) } : {};
  if (effort === undefined) return byDefault ? { thinking: ADAPTIVE } : {};
  switch (effortKindOf(model)) {
    case 'effort':
      return { effort, ...(byDefault && { thinking: ADAPTIVE }) };
    case 'adaptive':
      return { effort, ...(!forcesCall(request) && { thinking: ADAPTIVE }) };
    case 'budget':
      return mayThink(request, model) ? { thinking: budgetOf(effort, request, model) } : {};
  }
}

/** Thinking excludes a forced call. */
function forcesCall({ toolChoice }: ChatRequest): boolean {
  return toolChoice === 'required' || typeof toolChoice === 'object';
}

function mayThink(request: ChatRequest, model: string): boolean {
  return !forcesCall(request) && !lacksThought(request.messages, model);
}

function turnedOff(model: string): Readonly<Record<string, unknown>> {
  return { type: BETWEEN_TOOLS.test(model) ? 'between_tools' : 'disabled' };
}

function budgetOf(
  effort: Exclude<Effort, 'none'>,
  { parameters }: ChatRequest,
  model: string,
): Readonly<Record<string, unknown>> {
  const maxTokens = parameters?.maxTokens ?? defaultMaxTokens(model);
  const budget = Math.max(MIN_BUDGET, Math.floor(maxTokens * SHARES[effort]));
  return { type: 'enabled', budget_tokens: budget };
}

/**
 * Whether the calls of the current turn have no thought: with thinking on, Claude then refuses the request ("Expected
 * `thinking` or `redacted_thinking`, but found `tool_use`", platform.claude.com, "Extended thinking").
 */
function lacksThought(messages: readonly Message[], model: string): boolean {
  if (messages.at(-1)?.role !== 'tool') return false;
  const last = messages.findLast(({ role }) => role === 'assistant');
  if (last?.role !== 'assistant') return false;
  return last.signedReasoning?.provider !== 'anthropic' || last.signedReasoning.model !== model;
}
