import type { ChatResult } from '../chat.types.js';
import { contentText, reasoningText, refusalText } from './content.mapper.js';
import type { SignedReasoning } from '../message.types.js';
import { type OpaqueCall, opaqueOfCall, opaqueOfMessage, type StateOwner } from './opaque-field.mapper.js';
import { buildResult } from './result.builder.js';
import { ThoughtSignatureBuilder } from './thought-signature.builder.js';
import { toReportedUsage } from './usage.mapper.js';
import { parseJsonReply } from '../wire/json-reply.parser.js';
import { fragmentText, type WireCallParts } from '../wire/tool-call.mapper.js';
import { BadReplyError } from '../wire/wire-failure.error.js';
import type { WireChoice, WireMessage, WireReply, WireToolCall } from './wire-reply.types.js';

/** Parses the body of a reply without streaming. @param owner the requested model; its name if the reply contains none */
export function toChatResult(body: string, owner: StateOwner): ChatResult {
  const { model } = owner;
  const reply: WireReply = parseJsonReply(body);
  const choice = firstChoice(reply);
  const message = choice?.message;
  if (!message) throw new BadReplyError('a reply without choices');
  return buildResult({
    content: contentText(message.content),
    reasoning: reasoningText(message),
    refusal: refusalText(message),
    calls: wireCalls(message.tool_calls).map(toParts),
    signedReasoning: signedCalls(message, model),
    opaque: opaqueOfMessage(message),
    owner,
    finish: choice.finish_reason,
    usage: toReportedUsage(usageOf(reply, choice)),
    model: typeof reply.model === 'string' && reply.model !== '' ? reply.model : model,
  });
}

function signedCalls({ content, tool_calls }: WireMessage, model: string): SignedReasoning | undefined {
  const named = wireCalls(tool_calls).filter((call) => toParts(call).name !== '');
  return new ThoughtSignatureBuilder().add(named).result(model, contentText(content));
}

export function firstChoice(reply: WireReply): WireChoice | undefined {
  const first: unknown = Array.isArray(reply.choices) ? reply.choices[0] : undefined;
  return typeof first === 'object' && first !== null ? first : undefined;
}

/** Moonshot reports usage in the choice (github.com/earendil-works/pi/issues/2017), Groq also in `x_groq`. */
export function usageOf(reply: WireReply, choice: WireChoice | undefined): unknown {
  return reply.usage ?? choice?.usage ?? reply.x_groq?.usage;
}

export function wireCalls(calls: unknown): readonly WireToolCall[] {
  if (!Array.isArray(calls)) return [];
  return calls.filter((call): call is WireToolCall => typeof call === 'object' && call !== null);
}

function toParts(call: WireToolCall): WireCallParts & { readonly opaque: OpaqueCall | undefined } {
  return {
    id: typeof call.id === 'string' ? call.id : '',
    name: typeof call.function?.name === 'string' ? call.function.name : '',
    arguments: fragmentText(call.function?.arguments),
    opaque: opaqueOfCall(call),
  };
}
