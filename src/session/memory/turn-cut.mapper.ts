import type { SessionMessage } from '../session.types.js';

/** A text reduced to its start and its end. Lengths are in UTF-16 units. */
export interface TextCut {
  /** Index of its message. */
  readonly message: number;
  readonly head: number;
  readonly tail: number;
  /** The text that replaces the omitted part; empty if the text is complete. */
  readonly note: string;
  /** The text that replaces the omitted images; without it the images stay. */
  readonly imageNote?: string;
}

/**
 * The form of a turn that a model receives only in part; recorded in the run's journal. Indexes refer to the messages
 * of the complete turn. A replay applies it unchanged and makes no new selection.
 */
export interface TurnCut {
  readonly turn: number;
  /** `instructions`: only the system messages are included. */
  readonly form: 'shortened' | 'question_and_answer' | 'instructions';
  /** Indexes of the included messages. */
  readonly kept: readonly number[];
  readonly texts?: readonly TextCut[];
  /** Indexes of assistant messages that are included without calls, reasoning and provider state. */
  readonly bare?: readonly number[];
}

/** Minimum omitted characters: a shorter cut would save less than its note costs. */
const LEAST_OMITTED = 40;

/** @returns the messages of a turn after a cut */
export function applyCut(messages: readonly SessionMessage[], cut: Omit<TurnCut, 'turn' | 'form'>): SessionMessage[] {
  const texts = new Map((cut.texts ?? []).map((text) => [text.message, text]));
  const bare = new Set(cut.bare);
  return cut.kept.flatMap((at): SessionMessage[] => {
    const message = messages[at];
    if (!message) return [];
    const said = bare.has(at) ? toBare(message) : message;
    const text = texts.get(at);
    return [text ? withCut(said, text) : said];
  });
}

/** A message with a shortened text. The parts of a user message become one text. */
export function withCut(message: SessionMessage, cut: TextCut): SessionMessage {
  const content = cutText(textOf(message), cut);
  switch (message.role) {
    case 'user':
    case 'system':
    case 'assistant':
      return { ...message, content };
    case 'tool': {
      const { images, audio: _audio, ...result } = message;
      return { ...result, content, ...(images && cut.imageNote === undefined && { images }) };
    }
  }
}

/** An assistant message without calls, reasoning and provider state. */
export function toBare(message: SessionMessage): SessionMessage {
  if (message.role !== 'assistant') return message;
  const { toolCalls: _calls, reasoning: _reasoning, signedReasoning: _signed, ...said } = message;
  return said;
}

/**
 * The cut that retains about `length` UTF-16 units of a text, half at its start and half at its end. It omits all
 * images.
 * @returns null if nothing is omitted
 */
export function cutOf(message: SessionMessage, at: number, length: number): TextCut | null {
  const text = textOf(message);
  const images = imagesOf(message);
  const imageNote = images > 0 ? { imageNote: `[${images} ${images === 1 ? 'image' : 'images'} omitted]` } : {};
  const head = startOf(text, Math.ceil(length / 2));
  const tail = endOf(text, Math.floor(length / 2));
  const omitted = text.length - head - tail;
  if (omitted >= LEAST_OMITTED) {
    return { message: at, head, tail, note: `\n[… ${omitted} characters omitted …]\n`, ...imageNote };
  }
  return images > 0 ? { message: at, head: text.length, tail: 0, note: '', ...imageNote } : null;
}

/** The text of a message; several parts are joined by line breaks. */
export function textOf({ content }: SessionMessage): string {
  if (typeof content === 'string') return content;
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

/** Number of images in a message. */
export function imagesOf(message: SessionMessage): number {
  if (message.role === 'tool') return message.images?.length ?? 0;
  return typeof message.content === 'string' ? 0 : message.content.filter(({ type }) => type === 'image').length;
}

function cutText(text: string, { head, tail, note, imageNote }: TextCut): string {
  const short = note === '' ? text : `${text.slice(0, head)}${note}${text.slice(text.length - tail)}`;
  if (imageNote === undefined) return short;
  return short === '' ? imageNote : `${short}\n${imageNote}`;
}

/** Does not split a surrogate pair. */
function startOf(text: string, length: number): number {
  if (length >= text.length) return text.length;
  return isHigh(text.charCodeAt(length - 1)) ? length - 1 : length;
}

function endOf(text: string, length: number): number {
  if (length >= text.length) return text.length;
  return isLow(text.charCodeAt(text.length - length)) ? length - 1 : length;
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
