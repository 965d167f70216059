import type { ChatResult } from '../chat.types.js';
import { contentText, reasoningText, refusalText } from './content.mapper.js';
import { claimedStatus, isHtml, providerKind, providerMessage } from './provider-message.parser.js';
import { buildResult } from './result.builder.js';
import { argumentsText, type WireCallParts } from './tool-call.mapper.js';
import { BadReplyError, StatusError } from './wire-failure.error.js';
import type { WireChoice, WireReply, WireToolCall } from './wire-reply.types.js';

/** Reads the body of a reply that was not streamed. `model` is named where the reply names none. */
export function toChatResult(body: string, model: string): ChatResult {
  const reply = parseReply(body);
  const choice = firstChoice(reply);
  const message = choice?.message;
  if (!message) throw new BadReplyError('a reply without choices');
  return buildResult({
    content: contentText(message.content),
    reasoning: reasoningText(message),
    refusal: refusalText(message),
    calls: wireCalls(message.tool_calls).map(toParts),
    finish: choice.finish_reason,
    usage: reply.usage,
    model: typeof reply.model === 'string' && reply.model !== '' ? reply.model : model,
  });
}

/** Parses a reply or one event of a stream. Throws when it is no JSON object, or holds the provider's error. */
export function parseReply(text: string): WireReply {
  if (text.trim() === '') throw new BadReplyError('an empty body');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new BadReplyError(isHtml(text) ? 'an HTML page instead of JSON' : 'something that is not JSON');
  }
  if (typeof value !== 'object' || value === null) throw new BadReplyError('JSON that is not a reply');
  const reply: WireReply = value;
  if (reply.error) throw errorInside(reply.error);
  return reply;
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

function errorInside(error: unknown): Error {
  const status = claimedStatus(error);
  const said = providerMessage(error);
  if (status !== undefined) return new StatusError(status, said, providerKind(error));
  return new BadReplyError(`an error: ${said}`);
}
