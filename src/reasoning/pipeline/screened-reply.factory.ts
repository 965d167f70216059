import type { AssistantMessage, ChatResult, ResponseFormat } from '../../llm/index.js';
import type { ContentFilter, Filtered } from '../../security/index.js';
import { parseOutput } from '../output/output.parser.js';
import { joinFiltered, screenAnswer } from '../output/screened-answer.factory.js';
import type { DecodedReply } from '../protocols/protocol.js';

/** A reply after filtering, as recorded in the journal. */
export type ScreenedReply =
  | { readonly kind: 'clean'; readonly reply: RecordedReply }
  | { readonly kind: 'masked' | 'blocked'; readonly reply: RecordedReply; readonly names: readonly string[] };

export type RecordedReply = ChatResult & {
  /** The answer fitted its format before parts of it were masked; the masked answer need not fit. */
  readonly isMasked?: true;
};

/** The filter of a reply's texts, and the format that the answer must have. */
export interface Screen {
  readonly filter: ContentFilter;
  readonly format: ResponseFormat | undefined;
}

/**
 * Masks the texts of a reply, or replaces a blocked reply with a notice that gives the reason. Arguments of calls are
 * not filtered.
 */
export function screenReply(screen: Screen, reply: ChatResult, decoded: DecodedReply): ScreenedReply {
  const { filter } = screen;
  const { content, reasoning } = reply.message;
  // In text protocols the calls are part of the content; only its decoded parts are masked (`maskDecoded`).
  const isApart = decoded.calls.length === 0 || reply.message.toolCalls !== undefined;
  const filtered = {
    text: screenText(screen, decoded),
    thought: filter.text(decoded.thought),
    reasoning: filter.text(reasoning ?? ''),
    ...(isApart && { content: screenContent(screen, content, decoded) }),
  };
  const all = Object.values(filtered);
  const blocked = all.flatMap((one) => (one.kind === 'blocked' ? one.names : []));
  if (blocked.length > 0) return withheld(reply, [...new Set(blocked)]);
  const names = [...new Set(all.flatMap((one) => (one.kind === 'masked' ? one.names : [])))];
  if (names.length === 0) return { kind: 'clean', reply };
  const message: AssistantMessage = {
    ...reply.message,
    ...(filtered.content && { content: valueOf(filtered.content, content) }),
    ...(reasoning !== undefined && { reasoning: valueOf(filtered.reasoning, reasoning) }),
  };
  return {
    kind: 'masked',
    reply: { ...reply, message, ...(isFit(screen, decoded) && { isMasked: true as const }) },
    names,
  };
}

function isFit({ format }: Screen, { text, calls }: DecodedReply): boolean {
  return format !== undefined && calls.length === 0 && parseOutput(text, format).kind === 'valid';
}

/** The decoded parts of a reply, masked; masking a masked reply again changes nothing. */
export function maskDecoded(screen: Screen | null, decoded: DecodedReply): DecodedReply {
  if (!screen) return decoded;
  const { filter } = screen;
  const { reasoning, content } = decoded.message;
  return {
    ...decoded,
    text: valueOf(screenText(screen, decoded), decoded.text),
    thought: maskText(filter, decoded.thought),
    message: {
      ...decoded.message,
      content: valueOf(screenContent(screen, content, decoded), content),
      ...(reasoning !== undefined && { reasoning: maskText(filter, reasoning) }),
    },
  };
}

function screenText({ filter, format }: Screen, { text, calls }: DecodedReply): Filtered<string> {
  return format === undefined || calls.length > 0 ? filter.text(text) : screenAnswer(filter, text, format);
}

/** The visible text inside the content is filtered separately, so that decoding the content gives the same text. */
function screenContent(screen: Screen, content: string, decoded: DecodedReply): Filtered<string> {
  const { filter } = screen;
  const { text } = decoded;
  const at = text === '' ? -1 : content.lastIndexOf(text);
  if (at < 0) return filter.text(content);
  const [before, after] = [content.slice(0, at), content.slice(at + text.length)];
  return joinFiltered([
    [before, filter.plain(before)],
    [text, screenText(screen, decoded)],
    [after, filter.plain(after)],
  ]);
}

/** Has the same finish reason as a reply that the provider's own filter stopped. */
function withheld(reply: ChatResult, names: readonly string[]): ScreenedReply {
  const content = `The answer is withheld: it holds ${names.join(', ')}.`;
  return {
    kind: 'blocked',
    reply: { ...reply, finishReason: 'content_filter', message: { role: 'assistant', content } },
    names,
  };
}

function maskText(filter: ContentFilter, text: string): string {
  return valueOf(filter.text(text), text);
}

/** A recorded reply is already published, so it is no longer withheld. */
function valueOf(filtered: Filtered<string>, text: string): string {
  return filtered.kind === 'masked' ? filtered.value : text;
}
