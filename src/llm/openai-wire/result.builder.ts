import type { ChatResult } from '../chat.types.js';
import { checkUsage, type ReportedUsage } from '../usage.policy.js';
import type { AssistantMessage, SignedReasoning } from '../message.types.js';
import { isInterrupted, toFinishReason } from './finish-reason.mapper.js';
import { type OpaqueCall, type StateOwner, toSignedReasoning } from './opaque-field.mapper.js';
import { toToolCalls, type WireCallParts } from '../wire/tool-call.mapper.js';
import { BadReplyError } from '../wire/wire-failure.error.js';

/** A complete reply, streamed or not. */
export interface WholeReply {
  readonly content: string;
  readonly reasoning: string;
  readonly refusal: string;
  readonly calls: readonly (WireCallParts & { readonly opaque?: OpaqueCall | undefined })[];
  readonly finish: unknown;
  readonly usage: ReportedUsage;
  readonly model: string;
  readonly signedReasoning?: SignedReasoning | undefined;
  /** Fields of a gateway, and the model to which they are returned. */
  readonly opaque?: Readonly<Record<string, unknown>> | undefined;
  readonly owner: StateOwner;
}

/** Builds the result of a complete reply. @throws BadReplyError if the provider reports that the reply failed */
export function buildResult(reply: WholeReply): ChatResult {
  if (isInterrupted(reply.finish)) throw new BadReplyError(`a reply that ends in ${String(reply.finish)}`);
  const isCut = toFinishReason(reply.finish, false) !== 'stop';
  const toolCalls = toToolCalls(reply.calls, isCut);
  // `toToolCalls` has dropped the others.
  const named = reply.calls.filter(({ name }) => name !== '');
  const signedReasoning =
    (toolCalls.length > 0 ? reply.signedReasoning : undefined) ??
    toSignedReasoning(
      reply.owner,
      reply.opaque,
      named.map(({ opaque }) => opaque),
    );
  const message: AssistantMessage = {
    role: 'assistant',
    content: reply.content === '' ? reply.refusal : reply.content,
    ...(reply.reasoning !== '' && { reasoning: reply.reasoning }),
    ...(signedReasoning && { signedReasoning }),
    ...(toolCalls.length > 0 && { toolCalls }),
  };
  const usage = checkUsage(reply.usage);
  return {
    message,
    finishReason: reply.refusal === '' ? toFinishReason(reply.finish, toolCalls.length > 0) : 'content_filter',
    ...(usage && { usage }),
    model: reply.model,
  };
}
