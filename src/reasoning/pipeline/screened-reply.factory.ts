import type { AssistantMessage, ChatResult } from '../../llm/index.js';
import type { ContentFilter } from '../../security/index.js';
import type { DecodedReply } from '../protocols/protocol.js';

/** A reply as the journal may have it. */
export type ScreenedReply =
  | { readonly kind: 'clean'; readonly reply: ChatResult }
  | { readonly kind: 'masked' | 'blocked'; readonly reply: ChatResult; readonly names: readonly string[] };

/** Masks what a reply says, or puts a notice in its place that says why it is withheld. Arguments of calls stay. */
export function screenReply(filter: ContentFilter, reply: ChatResult, decoded: DecodedReply): ScreenedReply {
  const { content, reasoning } = reply.message;
  // In text protocols the calls are in the content; what is read of it is masked then (`maskDecoded`).
  const isApart = decoded.calls.length === 0 || reply.message.toolCalls !== undefined;
  const texts = [decoded.text, decoded.thought, reasoning ?? '', ...(isApart ? [content] : [])];
  const filtered = texts.map((text) => filter.text(text));
  const blocked = filtered.flatMap((one) => (one.kind === 'blocked' ? one.names : []));
  if (blocked.length > 0) return withheld(reply, [...new Set(blocked)]);
  const names = [...new Set(filtered.flatMap((one) => (one.kind === 'masked' ? one.names : [])))];
  if (names.length === 0) return { kind: 'clean', reply };
  const message: AssistantMessage = {
    ...reply.message,
    ...(isApart && { content: maskText(filter, content) }),
    ...(reasoning !== undefined && { reasoning: maskText(filter, reasoning) }),
  };
  return { kind: 'masked', reply: { ...reply, message }, names };
}

/** What is read of a reply, masked; it is the same for one that was masked before. */
export function maskDecoded(filter: ContentFilter | null, decoded: DecodedReply): DecodedReply {
  if (!filter) return decoded;
  const { reasoning, content } = decoded.message;
  return {
    ...decoded,
    text: maskText(filter, decoded.text),
    thought: maskText(filter, decoded.thought),
    message: {
      ...decoded.message,
      content: maskText(filter, content),
      ...(reasoning !== undefined && { reasoning: maskText(filter, reasoning) }),
    },
  };
}

/** It ends as one that the provider's own filter stopped. */
function withheld(reply: ChatResult, names: readonly string[]): ScreenedReply {
  const content = `The answer is withheld: it holds ${names.join(', ')}.`;
  return {
    kind: 'blocked',
    reply: { ...reply, finishReason: 'content_filter', message: { role: 'assistant', content } },
    names,
  };
}

/** What is recorded already was told: it is not withheld any more. */
function maskText(filter: ContentFilter, text: string): string {
  const filtered = filter.text(text);
  return filtered.kind === 'masked' ? filtered.value : text;
}
