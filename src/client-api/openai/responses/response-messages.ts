import { RunText, StreamRestartedError } from '../../../agent/answer/index.js';
import type { RunEvent } from '../../../run/event/index.js';
import { parseClientCallId } from '../../client-call-id.js';
import { OPENING, type OpenMessage, partialOf, partOf, ResponseItems, TEXT, toText, UNIT } from './response-items.js';
import type { OutputItem, ResponseEvent } from './response.types.js';

/**
 * A response: the events of a run from its start, or from a wait for its client, up to the next wait or the end. Its id is
 * that of the run, followed by the number of the event of that wait.
 */
export interface ResponsePlace {
  readonly runId: string;
  /** Number of the event before the first one; 0 for the start. */
  readonly after: number;
}

const ID = /^([\w-]{1,64})(?:\.(\d{1,9}))?$/;

export function toResponseId({ runId, after }: ResponsePlace): string {
  return after === 0 ? runId : `${runId}.${after}`;
}

/** @returns `undefined` for a text that is no id of a response */
export function parseResponseId(id: string): ResponsePlace | undefined {
  const [, runId, after = '0'] = ID.exec(id) ?? [];
  return runId === undefined ? undefined : { runId, after: Number(after) };
}

const ITEM = /^(?:msg|rs|mcp)_([\w-]+)_\d+$/;

/** The id of an item that is no call for the client; it names the run, so that a later request can refer to it. */
export function toItemId(kind: 'msg' | 'rs' | 'mcp', runId: string, place: number): string {
  return `${kind}_${runId}_${place}`;
}

/** The run of an item, also of a call for the client. */
export function runOfItem(id: string): string | undefined {
  const call = parseClientCallId(id.replace(/^fc_/, 'call_')) ?? parseClientCallId(id, 'mcpr');
  return call?.runId ?? ITEM.exec(id)?.[1];
}

type Event<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>;

type ItemOf<Type extends OutputItem['type']> = Extract<OutputItem, { type: Type }>;

export interface MessageOptions {
  readonly runId: string;
  /** Number of the event before the response. */
  readonly after: number;
  /** Sequence number of the last event that the client has; its later events follow. */
  readonly startingAfter?: number | undefined;
}

/** The messages of a response: their text arrives live, or with the recorded reply. */
export abstract class ResponseMessages extends ResponseItems {
  protected message: OpenMessage | null = null;
  private text: RunText;
  private isRestarted = false;
  /** The message that the client has in part: the event before it, and the length of its text. */
  private partial: { readonly n: number; readonly sent: number } | null;

  constructor(private readonly place: MessageOptions) {
    super(place.after);
    this.text = this.newText();
    this.partial = partialOf(place.startingAfter);
  }

  /** Live text of the reply after the last journaled event. */
  protected stream(event: Event<'message.delta'> | Event<'step.restarted'>): readonly ResponseEvent[] {
    const piece = this.pieceOf(event);
    if (piece === '') return [];
    this.next = OPENING;
    const opened = this.message ? [] : this.open(event.iteration, this.last);
    const deltas = this.toDeltas(piece);
    return [
      ...opened,
      ...deltas.map((delta) => ({ ...delta, sequence_number: this.last * UNIT + TEXT + this.message!.sent })),
    ];
  }

  /** A reply that starts again with other text sends no more of it before its end, which has the valid text. */
  private pieceOf(event: RunEvent): string {
    if (this.isRestarted && event.type !== 'message.completed') return '';
    try {
      return this.text.take(event);
    } catch (error) {
      if (!(error instanceof StreamRestartedError)) throw error;
      this.isRestarted = true;
      return '';
    }
  }

  protected complete(event: Event<'message.completed'>): readonly ResponseEvent[] {
    const piece = this.isRestarted ? '' : this.pieceOf(event);
    if (this.isRestarted) this.text = this.newText();
    this.isRestarted = false;
    if (event.text.trim() === '' && !this.message) return [];
    const opened = this.message ? [] : this.open(event.iteration, this.last - 1);
    return [...opened, ...this.toDeltas(piece), ...this.close(event.text)];
  }

  /** @param before number of the event before the message, at least */
  private open(place: number, before: number): readonly ResponseEvent[] {
    const id = this.itemId('msg', place);
    const item: OutputItem = { type: 'message', id, role: 'assistant', status: 'in_progress', content: [] };
    const isKnown = this.partial !== null && before >= this.partial.n;
    this.message = { index: this.output.push(item) - 1, id, sent: 0, known: isKnown ? this.partial!.sent : 0 };
    const { index } = this.message;
    if (isKnown) {
      this.partial = null;
      return [];
    }
    return [
      this.event('output_item.added', { output_index: index, item }),
      this.event('content_part.added', { ...partOf(this.message), part: toText('') }),
    ];
  }

  private close(text: string): readonly ResponseEvent[] {
    const message = this.message!;
    const part = toText(text);
    const item: ItemOf<'message'> = {
      type: 'message',
      id: message.id,
      role: 'assistant',
      status: 'completed',
      content: [part],
    };
    this.message = null;
    this.output[message.index] = item;
    return [
      this.event('output_text.done', { ...partOf(message), text, logprobs: [] }),
      this.event('content_part.done', { ...partOf(message), part }),
      this.event('output_item.done', { output_index: message.index, item }),
    ];
  }

  /** Without the text that the client has. */
  private toDeltas(piece: string): readonly ResponseEvent[] {
    const message = this.message!;
    const delta = piece.slice(Math.max(0, message.known - message.sent));
    message.sent += piece.length;
    return delta === '' ? [] : [this.event('output_text.delta', { ...partOf(message), delta, logprobs: [] })];
  }

  /** A text that is no reply of a model. */
  protected say(text: string): readonly ResponseEvent[] {
    const opened = this.open(0, this.last - 1);
    return [...opened, ...this.toDeltas(text), ...this.close(text)];
  }

  protected itemId(kind: Parameters<typeof toItemId>[0], place: number): string {
    return toItemId(kind, this.place.runId, place);
  }

  private newText(): RunText {
    return new RunText({ runId: this.place.runId, delivery: 'live' });
  }
}
