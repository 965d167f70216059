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
  /**
   * The result of the check of an answer with a format, which a replay uses: a check under load may not complete. Missing
   * for other replies and in older records.
   */
  readonly verdict?: FormatVerdict;
};

/** Whether an answer has the required format. */
export type FormatVerdict =
  | { readonly kind: 'valid' }
  /** With the problem, as text for the model and the user, and whether another answer could help. */
  | { readonly kind: 'format'; readonly problem: string; readonly mayRepair: boolean };

/** The filter of a reply's texts, and the format that the answer must have. */
export interface Screen {
  readonly filter: ContentFilter;
  readonly format: ResponseFormat | undefined;
}

/**
 * Masks the texts of a reply, or replaces a blocked reply with a notice that gives the reason. Arguments of calls are
 * not filtered.
 */
export async function screenReply(screen: Screen, reply: ChatResult, decoded: DecodedReply): Promise<ScreenedReply> {
  const { filter } = screen;
  const { content, reasoning } = reply.message;
  // In text protocols the calls are part of the content; only its decoded parts are masked (`maskDecoded`).
  const isApart = decoded.calls.length === 0 || reply.message.toolCalls !== undefined;
  const filtered = {
    text: await screenText(screen, decoded),
    thought: filter.text(decoded.thought),
    reasoning: filter.text(reasoning ?? ''),
    ...(isApart && { content: await screenContent(screen, content, decoded) }),
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
    reply: { ...reply, message, ...((await isFit(screen, decoded)) && { isMasked: true as const }) },
    names,
  };
}

async function isFit({ format }: Screen, { text, calls }: DecodedReply): Promise<boolean> {
  return format !== undefined && calls.length === 0 && (await parseOutput(text, format)).kind === 'valid';
}

/** The decoded parts of a reply, masked; masking a masked reply again changes nothing. */
export async function maskDecoded(screen: Screen | null, decoded: DecodedReply): Promise<DecodedReply> {
  if (!screen) return decoded;
  const { filter } = screen;
  const { reasoning, content } = decoded.message;
  return {
    ...decoded,
    text: valueOf(await screenText(screen, decoded), decoded.text),
    thought: maskText(filter, decoded.thought),
    message: {
      ...decoded.message,
      content: valueOf(await screenContent(screen, content, decoded), content),
      ...(reasoning !== undefined && { reasoning: maskText(filter, reasoning) }),
    },
  };
}

async function screenText({ filter, format }: Screen, { text, calls }: DecodedReply): Promise<Filtered<string>> {
  return format === undefined || calls.length > 0 ? filter.text(text) : screenAnswer(filter, text, format);
}

/** The visible text inside the content is filtered separately, so that decoding the content gives the same text. */
async function screenContent(screen: Screen, content: string, decoded: DecodedReply): Promise<Filtered<string>> {
  const { filter } = screen;
  const { text } = decoded;
  const at = text === '' ? -1 : content.lastIndexOf(text);
  if (at < 0) return filter.text(content);
  const [before, after] = [content.slice(0, at), content.slice(at + text.length)];
  return joinFiltered([
    [before, filter.plain(before)],
    [text, await screenText(screen, decoded)],
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
