import type { ChatResult } from '../chat.types.js';
import { contentText, reasoningText, refusalText } from './content.mapper.js';
import { buildResult } from './result.builder.js';
import { toReportedUsage } from './usage.mapper.js';
import { parseJsonReply } from '../wire/json-reply.parser.js';
import { argumentsText, type WireCallParts } from '../wire/tool-call.mapper.js';
import { BadReplyError } from '../wire/wire-failure.error.js';
import type { WireChoice, WireReply, WireToolCall } from './wire-reply.types.js';

/** Parses the body of a reply without streaming. @param model name to return if the reply contains none */
export function toChatResult(body: string, model: string): ChatResult {
  const reply: WireReply = parseJsonReply(body);
  const choice = firstChoice(reply);
  const message = choice?.message;
  if (!message) throw new BadReplyError('a reply without choices');
  return buildResult({
    content: contentText(message.content),
    reasoning: reasoningText(message),
    refusal: refusalText(message),
    calls: wireCalls(message.tool_calls).map(toParts),
    finish: choice.finish_reason,
    usage: toReportedUsage(reply.usage),
    model: typeof reply.model === 'string' && reply.model !== '' ? reply.model : model,
  });
}

export function firstChoice(reply: WireReply): WireChoice | undefined {
  const first: unknown = Array.isArray(reply.choices) ? reply.choices[0] : undefined;
  return typeof first === 'object' && first !== null ? first : undefined;
}

export function wireCalls(calls: unknown): readonly WireToolCall[] {
  if (!Array.isArray(calls)) return [];
  return calls.filter((call): call is WireToolCall => typeof call === 'object' && call !== null);
}

function toParts(call: WireToolCall): WireCallParts {
  return {
    id: typeof call.id === 'string' ? call.id : '',
    name: typeof call.function?.name === 'string' ? call.function.name : '',
    arguments: argumentsText(call.function?.arguments),
  };
}
