import { type Arbitrary, boolean, constantFrom, integer, record } from 'fast-check';
import { framing, piecesOf, toBody, toStream, type Framing } from './framing.js';
import type { LogicalCall, LogicalReply } from './logical-reply.js';

/** The form of a reply in OpenAI's Responses API, as OpenAI, servers and gateways send it. */
export interface ResponsesVariant {
  /**
   * The place of an event. `id` alone: github.com/lemonade-sdk/lemonade/issues/3607. `none` in deltas: github.com/
   * RESMP-DEV/ccr-rust/pull/25. `zero` for messages and calls alike: github.com/teabranch/open-responses-server/pull/63.
   * `rotating` ids, another one in each event: github.com/BerriAI/litellm/pull/30072 (Copilot).
   */
  readonly place: 'both' | 'id' | 'none' | 'zero' | 'rotating';
  /** The `output` of the last event: github.com/QuantumNous/new-api/issues/4362, github.com/ENTERPILOT/GoModel/pull/831. */
  readonly snapshot: 'full' | 'empty' | 'missing';
  /** `textless`: the parts of the finished item have no text: github.com/makecindy/cindy/issues/4509. */
  readonly done: 'full' | 'textless' | 'missing';
  /** `end`: arguments without deltas: github.com/lidge-jun/opencodex/pull/4652. */
  readonly arguments: 'deltas' | 'end';
  readonly noArguments: '{}' | '' | 'missing';
  /** `text`: of open models, github.com/vllm-project/vllm/pull/24788. */
  readonly reasoning: 'summary' | 'text';
  readonly usage: 'usual' | 'no-total' | 'absent';
  /** Unknown events and items: of tools that the server executes, and of later versions. */
  readonly hasUnknown: boolean;
  /** Gateways append the end of streams of chat completions. */
  readonly hasDone: boolean;
  readonly piece: number;
  readonly framing: Framing;
}

const pick = <const T extends readonly string[]>(...values: T): Arbitrary<T[number]> => constantFrom(...values);

export const responsesVariant: Arbitrary<ResponsesVariant> = record({
  place: pick('both', 'id', 'none', 'zero', 'rotating'),
  snapshot: pick('full', 'empty', 'missing'),
  done: pick('full', 'textless', 'missing'),
  arguments: pick('deltas', 'end'),
  noArguments: pick('{}', '', 'missing'),
  reasoning: pick('summary', 'text'),
  usage: pick('usual', 'no-total', 'absent'),
  hasUnknown: boolean(),
  hasDone: boolean(),
  piece: integer({ min: 1, max: 9 }),
  framing,
}).map(possible);

/** Excludes forms that do not contain the arguments of a call. */
function possible(form: ResponsesVariant): ResponsesVariant {
  return form.arguments === 'end' && form.done === 'missing' ? { ...form, done: 'full' } : form;
}

type Item = Readonly<Record<string, unknown>>;
/** An item with the deltas of its stream. */
interface Streamed {
  readonly item: Item;
  readonly deltas: readonly Item[];
}

/** The chunks of a response without a stream. */
export function toResponsesBody(reply: LogicalReply, form: ResponsesVariant): readonly Uint8Array[] {
  const output = streamedItems(reply, form).map(({ item }) => item);
  return toBody({ ...head(), status: 'completed', output, ...usageField(reply, form) }, form.framing);
}

/** The chunks of a streamed response. */
export function toResponsesStream(reply: LogicalReply, form: ResponsesVariant): readonly Uint8Array[] {
  const items = streamedItems(reply, form);
  const started = { ...head(), status: 'in_progress', output: [] };
  const output = { full: items.map(({ item }) => item), empty: [], missing: undefined }[form.snapshot];
  const response = { ...head(), status: 'completed', ...(output && { output }), ...usageField(reply, form) };
  const events = [
    { type: 'response.created', response: started },
    { type: 'response.in_progress', response: started },
    ...items.flatMap((streamed, at) => toEvents(streamed, at, form)),
    ...(form.hasUnknown ? [{ type: 'response.later_event', delta: 'x', output_index: 0 }] : []),
    { type: 'response.completed', response },
  ];
  const numbered = events.map((event, sequence_number) => ({ ...event, sequence_number }));
  return toStream([...numbered, ...(form.hasDone ? ['[DONE]'] : [])], form.framing);
}

function head(): Item {
  return { id: 'resp_1', object: 'response', created_at: 1, model: 'm-1', error: null };
}

function usageField({ usage: [input, output] }: LogicalReply, { usage }: ResponsesVariant): Item {
  if (usage === 'absent') return { usage: null };
  const total = usage === 'usual' ? { total_tokens: input + output } : {};
  return { usage: { input_tokens: input, output_tokens: output, ...total } };
}

function streamedItems({ reasoning, text, calls }: LogicalReply, form: ResponsesVariant): Streamed[] {
  return [
    ...(reasoning === '' ? [] : [reasoningItem(reasoning, form)]),
    ...(form.hasUnknown ? [{ item: { type: 'web_search_call', id: 'ws_0', status: 'completed' }, deltas: [] }] : []),
    ...(text === '' ? [] : [messageItem(text, form)]),
    ...calls.map((call, at) => callItem(call, at, form)),
  ];
}

function reasoningItem(text: string, { reasoning, piece }: ResponsesVariant): Streamed {
  const isSummary = reasoning === 'summary';
  const part = { type: isSummary ? 'summary_text' : 'reasoning_text', text };
  const place = isSummary ? { summary_index: 0 } : { content_index: 0 };
  const type = isSummary ? 'response.reasoning_summary_text.delta' : 'response.reasoning_text.delta';
  return {
    item: { type: 'reasoning', id: 'rs_0', ...(isSummary ? { summary: [part] } : { summary: [], content: [part] }) },
    deltas: piecesOf(text, piece).map((delta) => ({ type, ...place, delta })),
  };
}

function messageItem(text: string, { piece }: ResponsesVariant): Streamed {
  const content = [{ type: 'output_text', text, annotations: [] }];
  return {
    item: { type: 'message', id: 'msg_0', role: 'assistant', status: 'completed', content },
    deltas: piecesOf(text, piece).map((delta) => ({ type: 'response.output_text.delta', content_index: 0, delta })),
  };
}

function callItem(call: LogicalCall, at: number, form: ResponsesVariant): Streamed {
  const text = call.name === 'now' ? form.noArguments : JSON.stringify(call.arguments);
  const args = text === 'missing' ? {} : { arguments: text };
  const deltas = form.arguments === 'end' || text === 'missing' ? [] : piecesOf(text, form.piece);
  return {
    item: {
      type: 'function_call',
      id: `fc_${at}`,
      call_id: `call_${at}`,
      name: call.name,
      status: 'completed',
      ...args,
    },
    deltas: deltas.map((delta) => ({ type: 'response.function_call_arguments.delta', delta })),
  };
}

function toEvents({ item, deltas }: Streamed, at: number, form: ResponsesVariant): Item[] {
  let event = 0;
  const idOf = () => (form.place === 'rotating' ? `${String(item['id'])}-${event++}` : item['id']);
  const index = form.place === 'id' ? {} : { output_index: form.place === 'zero' ? 0 : at };
  const place = () => (form.place === 'none' ? {} : { ...index, item_id: idOf() });
  const start = { ...without(item, ['content', 'summary']), status: 'in_progress', ...emptied(item) };
  return [
    { type: 'response.output_item.added', ...index, item: { ...start, id: idOf() } },
    ...deltas.map((delta) => ({ ...delta, ...place() })),
    ...(form.done === 'missing'
      ? []
      : [{ type: 'response.output_item.done', ...index, item: { ...finished(item, form), id: idOf() } }]),
  ];
}

/** The fields of an item that deltas fill. */
function emptied({ type }: Item): Item {
  if (type === 'message') return { content: [] };
  if (type === 'reasoning') return { summary: [] };
  return type === 'function_call' ? { arguments: '' } : {};
}

function finished(item: Item, { done }: ResponsesVariant): Item {
  if (done === 'full' || item['type'] !== 'message') return item;
  return { ...item, content: [{ type: 'output_text' }] };
}

function without(item: Item, names: readonly string[]): Item {
  return Object.fromEntries(Object.entries(item).filter(([name]) => !names.includes(name)));
}
