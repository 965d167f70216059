import { type Arbitrary, array, boolean, constantFrom, nat, record } from 'fast-check';

/** The bytes of an event stream around its events (html.spec.whatwg.org, "Parsing an event stream"). */
export interface Framing {
  readonly eol: '\n' | '\r' | '\r\n';
  /** The space after `data:` is optional. */
  readonly hasSpace: boolean;
  readonly hasMark: boolean;
  /** Keep-alive comments: openrouter.ai/docs/api/reference/streaming, "Additional information". */
  readonly hasComments: boolean;
  /** Names the type of every event, as Anthropic and some gateways do. */
  readonly hasTypes: boolean;
  /** llama.cpp has sent `[DONE]` without a blank line: github.com/darshi1337/apogee/pull/139. */
  readonly hasLastBlank: boolean;
  /** Positions at which the bytes are cut into chunks, in bytes, modulo their number. */
  readonly cuts: readonly number[];
}

export const framing: Arbitrary<Framing> = record({
  eol: constantFrom('\n' as const, '\r' as const, '\r\n' as const),
  hasSpace: boolean(),
  hasMark: boolean(),
  hasComments: boolean(),
  hasTypes: boolean(),
  hasLastBlank: boolean(),
  cuts: array(nat(), { maxLength: 12 }),
});

/** The chunks of an event stream with this data. */
export function toStream(events: readonly unknown[], form: Framing): readonly Uint8Array[] {
  const { eol, hasComments, hasLastBlank } = form;
  const frames = events.map((event) => `${hasComments ? `: ping${eol}${eol}` : ''}${toFrame(event, form)}${eol}`);
  const text = frames.join(eol) + (hasLastBlank ? eol : '');
  return toChunks(text, form);
}

/** The chunks of a body without a stream. */
export function toBody(body: unknown, form: Framing): readonly Uint8Array[] {
  return toChunks(JSON.stringify(body), form);
}

/** One event without its blank line; a string is sent as its data, a `line` unchanged. */
function toFrame(event: unknown, { eol, hasSpace, hasTypes }: Framing): string {
  const { type, line } = event as { readonly type?: unknown; readonly line?: string };
  if (line !== undefined) return line;
  const named = hasTypes ? `event: ${typeof type === 'string' ? type : 'message'}${eol}` : '';
  const data = typeof event === 'string' ? event : JSON.stringify(event);
  return `${named}data:${hasSpace ? ' ' : ''}${data}`;
}

function toChunks(text: string, { hasMark, cuts }: Framing): readonly Uint8Array[] {
  const bytes = Buffer.from(hasMark ? `\uFEFF${text}` : text);
  const at = [0, ...cuts.map((cut) => cut % bytes.length).toSorted((a, b) => a - b), bytes.length];
  return at.slice(1).flatMap((end, n) => (end > at[n]! ? [bytes.subarray(at[n], end)] : []));
}

/** The pieces of a text, as a model streams it; a piece may end inside a surrogate pair. */
export function piecesOf(text: string, length: number): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += length) pieces.push(text.slice(at, at + length));
  return pieces;
}
