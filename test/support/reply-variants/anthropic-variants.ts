import { type Arbitrary, boolean, constantFrom, integer, record } from 'fast-check';
import { framing, piecesOf, toBody, toStream, type Framing } from './framing.js';
import type { LogicalCall, LogicalReply } from './logical-reply.js';

/**
 * The form of a reply in Anthropic's Messages API (platform.claude.com, "Streaming messages"), as Anthropic and gateways
 * with the same API send it.
 */
export interface AnthropicVariant {
  /**
   * `deltas`: documented. `start`: whole in the start of its block, `text`: there as a JSON string; both from gateways in
   * front of other models. A block without a stream has no deltas.
   */
  readonly input: 'deltas' | 'start' | 'text';
  readonly noInput: 'object' | 'null' | 'missing' | 'empty-delta';
  readonly index: 'counted' | 'sparse';
  /** An empty text block, which the API itself sends before calls (github.com/open-webui/open-webui/issues/21918). */
  readonly hasEmptyText: boolean;
  /** Counts at the start and at the end, or at the end alone. */
  readonly usage: 'both' | 'end' | 'absent';
  /** `pause_turn` and other reasons beside the calls; `unknown`: any later reason. */
  readonly stop: 'usual' | 'end_turn' | 'tool_use' | 'stop_sequence' | 'pause_turn' | 'unknown';
  /** Unknown events, deltas and blocks: clients must accept them (platform.claude.com, "Versions"). */
  readonly hasUnknown: boolean;
  /** Gateways append the end of OpenAI's streams. */
  readonly hasDone: boolean;
  readonly piece: number;
  readonly framing: Framing;
}

export const anthropicVariant: Arbitrary<AnthropicVariant> = record({
  input: constantFrom('deltas' as const, 'start' as const, 'text' as const),
  noInput: constantFrom('object' as const, 'null' as const, 'missing' as const, 'empty-delta' as const),
  index: constantFrom('counted' as const, 'sparse' as const),
  hasEmptyText: boolean(),
  usage: constantFrom('both' as const, 'end' as const, 'absent' as const),
  stop: constantFrom(...(['usual', 'end_turn', 'tool_use', 'stop_sequence', 'pause_turn', 'unknown'] as const)),
  hasUnknown: boolean(),
  hasDone: boolean(),
  piece: integer({ min: 1, max: 9 }),
  framing,
});

type Block = Readonly<Record<string, unknown>>;
interface Streamed {
  readonly start: Block;
  readonly deltas: readonly Block[];
}

/** The chunks of a message without a stream. */
export function toAnthropicBody(reply: LogicalReply, form: AnthropicVariant): readonly Uint8Array[] {
  const content = [
    ...(reply.reasoning === '' ? [] : [{ type: 'thinking', thinking: reply.reasoning, signature: 'signed' }]),
    ...(reply.text !== '' || form.hasEmptyText ? [{ type: 'text', text: reply.text }] : []),
    ...(form.hasUnknown ? [{ type: 'later_block', data: {} }] : []),
    ...reply.calls.map((call, at) => ({ ...callHead(call, at), ...wholeInput(call, form) })),
  ];
  const { usage } = form;
  return toBody(
    { ...head(), content, stop_reason: stopOf(reply, form), ...(usage !== 'absent' && { usage: countsOf(reply) }) },
    form.framing,
  );
}

/** The chunks of a streamed message. */
export function toAnthropicStream(reply: LogicalReply, form: AnthropicVariant): readonly Uint8Array[] {
  const { input_tokens, output_tokens } = countsOf(reply);
  const start = { input_tokens: form.usage === 'both' ? input_tokens : 0, output_tokens: 1 };
  const end = form.usage === 'both' ? { output_tokens } : { input_tokens, output_tokens };
  const has = form.usage !== 'absent';
  const events = [
    { type: 'message_start', message: { ...head(), content: [], stop_reason: null, ...(has && { usage: start }) } },
    { type: 'ping' },
    ...blocksOf(reply, form).flatMap((block, at) => toEvents(block, form.index === 'sparse' ? at * 3 + 1 : at)),
    ...(form.hasUnknown ? [{ type: 'later_event', data: { text: 'x' } }] : []),
    { type: 'message_delta', delta: { stop_reason: stopOf(reply, form) }, ...(has && { usage: end }) },
    { type: 'message_stop' },
    ...(form.hasDone ? ['[DONE]'] : []),
  ];
  return toStream(events, form.framing);
}

function head(): Block {
  return { id: 'msg', type: 'message', role: 'assistant', model: 'm-1' };
}

function callHead({ name }: LogicalCall, at: number): Block {
  return { type: 'tool_use', id: `toolu_${at}`, name };
}

function blocksOf(reply: LogicalReply, form: AnthropicVariant): Streamed[] {
  const { reasoning, text, calls } = reply;
  const thinking = piecesOf(reasoning, form.piece).map((piece) => ({ type: 'thinking_delta', thinking: piece }));
  const signature = { type: 'signature_delta', signature: 'signed' };
  const said = piecesOf(text, form.piece).map((piece) => ({ type: 'text_delta', text: piece }));
  const later = form.hasUnknown ? [{ type: 'later_delta', later: 'x' }] : [];
  return [
    ...(reasoning === ''
      ? []
      : [{ start: { type: 'thinking', thinking: '', signature: '' }, deltas: [...thinking, signature] }]),
    ...(text !== '' || form.hasEmptyText ? [{ start: { type: 'text', text: '' }, deltas: [...said, ...later] }] : []),
    ...calls.map((call, at) => streamedCall(call, at, form)),
  ];
}

function streamedCall(call: LogicalCall, at: number, form: AnthropicVariant): Streamed {
  const start = callHead(call, at);
  const delta = (partial_json: string) => ({ type: 'input_json_delta', partial_json });
  const isEmpty = call.name === 'now';
  if (isEmpty || form.input !== 'deltas') {
    const deltas = isEmpty && form.noInput === 'empty-delta' ? [delta('')] : [];
    return { start: { ...start, ...wholeInput(call, form) }, deltas };
  }
  const text = JSON.stringify(call.arguments);
  return { start: { ...start, input: {} }, deltas: ['', ...piecesOf(text, form.piece)].map(delta) };
}

function wholeInput(call: LogicalCall, form: AnthropicVariant): Block {
  if (call.name === 'now' && form.noInput === 'missing') return {};
  if (call.name === 'now' && form.noInput === 'null') return { input: null };
  return { input: form.input === 'text' ? JSON.stringify(call.arguments) : call.arguments };
}

function toEvents({ start, deltas }: Streamed, index: number): Block[] {
  return [
    { type: 'content_block_start', index, content_block: start },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

function stopOf({ calls }: LogicalReply, { stop }: AnthropicVariant): string {
  if (stop === 'unknown') return 'later_reason';
  return stop === 'usual' ? (calls.length > 0 ? 'tool_use' : 'end_turn') : stop;
}

function countsOf({ usage: [prompt, completion] }: LogicalReply) {
  return { input_tokens: prompt, output_tokens: completion };
}
