import type { AssistantMessage, ChatResult, ResponseFormat, ToolCall, ToolChoice } from '../../llm/chat/index.js';
import { type ContentFilter, type Filtered, FilteredStream } from '../../security/content/index.js';
import { joinFiltered, parseOutput, screenAnswer } from '../output/output.parser.js';
import type { DecodedReply, StreamDecoder } from '../protocols/protocol.js';
import type { Loop } from '../reasoning.types.js';

/** Required call of a reply: any tool, or the named one. */
type WantedCall = Exclude<ToolChoice, 'auto' | 'none'>;

/** Required call of the current reply. Only the first iteration has one; otherwise the loop could not end. */
export function wantedCall({ request: { toolChoice }, iteration }: Loop): WantedCall | undefined {
  if (iteration > 1 || toolChoice === undefined || toolChoice === 'auto' || toolChoice === 'none') return undefined;
  return toolChoice;
}

/** Whether these calls include the required call. */
export function isCalled(loop: Loop, calls: readonly ToolCall[]): boolean {
  const wanted = wantedCall(loop);
  if (wanted === undefined) return true;
  return wanted === 'required' ? calls.length > 0 : calls.some(({ name }) => name === wanted.name);
}

/** Instruction for a model that does not support forced calls. */
export function commandTo(wanted: WantedCall): string {
  return `Your next reply must call ${describe(wanted)}.`;
}

export function describe(wanted: WantedCall): string {
  return wanted === 'required' ? 'a tool' : `the tool "${wanted.name}"`;
}

/** Publishes the visible text of a streamed reply, piece by piece. */
export class ShownText {
  private visible: StreamDecoder;
  private filtered: FilteredStream | null;
  /** Text of a reply that must call a tool, published only if the reply is usable; `null` for other replies. */
  private readonly held: string[] | null;
  /** An answer with a format is filtered by its values, which are known only when it is complete. */
  private readonly isWhole: boolean;

  constructor(
    private readonly loop: Loop,
    private readonly filter: ContentFilter | null,
  ) {
    this.visible = loop.protocol.decodeStream();
    this.filtered = filter && new FilteredStream(filter);
    this.held = wantedCall(loop) ? [] : null;
    this.isWhole = filter !== null && loop.request.responseFormat !== undefined;
  }

  push(piece: string): void {
    if (this.isWhole) return;
    const text = this.visible.push(piece);
    this.show(this.filtered ? this.filtered.push(text) : text);
  }

  /** The reply restarts. */
  restart(): void {
    const { run, iteration, protocol } = this.loop;
    this.visible = protocol.decodeStream();
    this.filtered = this.filter && new FilteredStream(this.filter);
    if (this.held) this.held.length = 0;
    else if (!run.signal.aborted) run.emit({ type: 'step.restarted', iteration, text: '' });
  }

  /** Ends a complete reply. @param filtered its visible text, filtered */
  end(filtered: string, reply: ChatResult): void {
    if (this.isWhole) return this.show(filtered);
    const text = this.visible.end(reply);
    this.show(this.filtered ? this.filtered.push(text) + this.filtered.end() : text);
  }

  /** Replaces a withheld reply by a text. */
  replaceBy(text: string): void {
    if (this.held) this.held.length = 0;
    this.show(text);
  }

  /** Publishes the held text of a usable reply. */
  release(): void {
    if (this.held) this.publish(this.held.join(''));
  }

  private show(text: string): void {
    if (this.held) this.held.push(text);
    else this.publish(text);
  }

  private publish(text: string): void {
    const { run, iteration } = this.loop;
    if (text !== '' && !run.signal.aborted) run.emit({ type: 'message.delta', iteration, text });
  }
}

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
