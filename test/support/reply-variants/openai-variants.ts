import { type Arbitrary, boolean, constantFrom, integer, record } from 'fast-check';
import { framing, piecesOf, toBody, toStream, type Framing } from './framing.js';
import type { LogicalCall, LogicalReply } from './logical-reply.js';

/** The form of a reply in OpenAI's chat completions, as providers and gateways send it. */
export interface OpenAiVariant {
  /**
   * `missing`: github.com/ollama/ollama/issues/7881. `zero` for every call: github.com/ollama/ollama/issues/15457 and,
   * for Gemini, github.com/NousResearch/hermes-agent/issues/62940. `unordered`: the last call first.
   */
  readonly index: 'counted' | 'missing' | 'null' | 'zero' | 'unordered';
  /** `repeated`: the same ids in every reply, as of servers that count from 0 in each. */
  readonly id: 'given' | 'repeated' | 'missing' | 'null' | 'empty';
  /** `named`: every fragment repeats id and name. `interleaved`: the calls arrive in turns; only with a counted index. */
  readonly fragments: 'whole' | 'split' | 'named' | 'interleaved';
  /**
   * `object`: github.com/BerriAI/litellm/pull/37792. `twice`: JSON inside a JSON string, github.com/vllm-project/vllm/
   * pull/54964.
   */
  readonly arguments: 'text' | 'object' | 'twice';
  /**
   * Arguments of a call without any: the text `null` in github.com/1jehuang/jcode/issues/225 and github.com/AIDotNet/
   * OpenDeepWiki/pull/392, JSON's null in github.com/vercel/ai/pull/4755, others in github.com/pydantic/pydantic-ai/
   * pull/1802.
   */
  readonly noArguments: '{}' | '' | ' \n' | 'null' | '""' | 'json-null' | 'json-object' | 'missing';
  /** `parts`: docs.mistral.ai, "Reasoning"; github.com/spring-projects/spring-ai/pull/5020. */
  readonly content: 'text' | 'parts';
  readonly noContent: '' | 'null' | 'missing' | 'no-parts';
  /**
   * `think`: docs.vllm.ai, "Reasoning outputs", of a server without a reasoning parser. `part`: Mistral. The fields:
   * api-docs.deepseek.com/guides/thinking_mode; openrouter.ai/docs, "Reasoning tokens". `both`: the second one empty.
   */
  readonly reasoning: 'reasoning_content' | 'reasoning' | 'both' | 'think' | 'part';
  /**
   * `choice`: github.com/earendil-works/pi/issues/2017 (Moonshot). `x_groq`: github.com/vercel/ai/issues/1651. `last`:
   * a chunk without choices, platform.openai.com/docs/api-reference/chat/create. `each`: the count so far in all chunks.
   */
  readonly usage: 'last' | 'finish' | 'choice' | 'x_groq' | 'each' | 'absent';
  /**
   * `absent`, `null`: github.com/anomalyco/opencode/issues/43882. `stop` with calls: github.com/openai/openai-dotnet/
   * issues/64. `tool_calls` without calls and unknown reasons are proprietary.
   */
  readonly finish: 'usual' | 'absent' | 'null' | 'empty' | 'stop' | 'tool_calls' | 'eos_token';
  /** `[DONE]`, or a connection that closes after the finish reason; Azure starts with a chunk without choices. */
  readonly end: 'done' | 'close';
  readonly hasFilterChunk: boolean;
  /** Length of the streamed pieces, in UTF-16 units. */
  readonly piece: number;
  readonly framing: Framing;
}

const pick = <const T extends readonly string[]>(...values: T): Arbitrary<T[number]> => constantFrom(...values);

export const openAiVariant: Arbitrary<OpenAiVariant> = record({
  index: pick('counted', 'missing', 'null', 'zero', 'unordered'),
  id: pick('given', 'repeated', 'missing', 'null', 'empty'),
  fragments: pick('whole', 'split', 'named', 'interleaved'),
  arguments: pick('text', 'object', 'twice'),
  noArguments: pick('{}', '', ' \n', 'null', '""', 'json-null', 'json-object', 'missing'),
  content: pick('text', 'parts'),
  noContent: pick('', 'null', 'missing', 'no-parts'),
  reasoning: pick('reasoning_content', 'reasoning', 'both', 'think', 'part'),
  usage: pick('last', 'finish', 'choice', 'x_groq', 'each', 'absent'),
  finish: pick('usual', 'absent', 'null', 'empty', 'stop', 'tool_calls', 'eos_token'),
  end: pick('done', 'close'),
  hasFilterChunk: boolean(),
  piece: integer({ min: 1, max: 9 }),
  framing,
}).map(possible);

/** Excludes forms that carry no information about the boundaries of calls or the end of the stream. */
function possible(form: OpenAiVariant): OpenAiVariant {
  const isCounted = form.index === 'counted' || form.index === 'unordered';
  const isEnded = !['absent', 'null', 'empty'].includes(form.finish);
  return {
    ...form,
    ...(form.fragments === 'interleaved' && !isCounted && { fragments: 'split' }),
    ...(!isEnded && { end: 'done' }),
  };
}

/** The form that OpenAI documents. */
export const DOCUMENTED: OpenAiVariant = {
  index: 'counted',
  id: 'given',
  fragments: 'split',
  arguments: 'text',
  noArguments: '{}',
  content: 'text',
  noContent: 'null',
  reasoning: 'reasoning_content',
  usage: 'last',
  finish: 'usual',
  end: 'done',
  hasFilterChunk: false,
  piece: 5,
  framing: {
    eol: '\n',
    hasSpace: true,
    hasMark: false,
    hasComments: false,
    hasTypes: false,
    hasLastBlank: true,
    cuts: [],
  },
};

/** The chunks of a reply without a stream. @param turn makes ids unique across replies, unless they are `repeated` */
export function toOpenAiBody(reply: LogicalReply, form: OpenAiVariant, turn = 0): readonly Uint8Array[] {
  const calls = reply.calls.map((call, at) => ({
    ...idOf(form, turn, at),
    type: 'function',
    function: toCall(call, form),
  }));
  const message = {
    role: 'assistant',
    ...reasoningField(reply.reasoning, form),
    ...contentField(contentOf(reply, form), form, partOf(reply.reasoning, form)),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  const counts = usageOf(reply);
  const choice = {
    index: 0,
    message,
    ...finishField(reply, form),
    ...(form.usage === 'choice' && { usage: counts }),
  };
  const isTop = !['choice', 'x_groq', 'absent'].includes(form.usage);
  const body = {
    id: 'x',
    object: 'chat.completion',
    created: 1,
    model: 'm-1',
    choices: [choice],
    ...(isTop && { usage: counts }),
    ...(form.usage === 'x_groq' && { x_groq: { id: 'req', usage: counts } }),
  };
  return toBody(body, form.framing);
}

/** The chunks of a streamed reply. */
export function toOpenAiStream(reply: LogicalReply, form: OpenAiVariant, turn = 0): readonly Uint8Array[] {
  const counts = usageOf(reply);
  const deltas = [
    { role: 'assistant', ...emptyContent(form) },
    ...reasoningDeltas(reply.reasoning, form),
    ...piecesOf(contentOf(reply, form), form.piece).map((text) => contentField(text, form)),
    ...callDeltas(reply, form, turn).map((fragment) => ({ tool_calls: [fragment] })),
  ];
  const partial = { ...counts, completion_tokens: 1, total_tokens: counts.prompt_tokens + 1 };
  const chunks = deltas.map((delta) =>
    chunk([{ index: 0, delta, finish_reason: null }], form.usage === 'each' ? { usage: partial } : {}),
  );
  const last = { index: 0, delta: {}, ...finishField(reply, form), ...(form.usage === 'choice' && { usage: counts }) };
  const isLast = form.usage === 'finish' || form.usage === 'each';
  const events = [
    ...(form.hasFilterChunk ? [chunk([], { model: '', prompt_filter_results: [] })] : []),
    ...chunks,
    chunk([last], {
      ...(isLast && { usage: counts }),
      ...(form.usage === 'x_groq' && { x_groq: { id: 'req', usage: counts } }),
    }),
    ...(form.usage === 'last' ? [chunk([], { usage: counts })] : []),
    ...(form.end === 'done' ? ['[DONE]'] : []),
  ];
  return toStream(events, form.framing);
}

/** The chunks of a stream that reports an error after a text. */
export function toFailedStream(text: string, error: object, form: OpenAiVariant): readonly Uint8Array[] {
  const deltas = piecesOf(text, form.piece).map((piece) => chunk([{ index: 0, delta: { content: piece } }], {}));
  return toStream([...deltas, error, ...(form.end === 'done' ? ['[DONE]'] : [])], form.framing);
}

/** The id of a decoded call. */
export function expectedId({ id }: OpenAiVariant, turn: number, at: number): string {
  if (id === 'given') return `call_${turn}_${at}`;
  return id === 'repeated' ? `functions.f:${at}` : `call_${at}`;
}

function chunk(choices: readonly unknown[], more: object): object {
  return { id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm-1', choices, ...more };
}

function idOf(form: OpenAiVariant, turn: number, at: number): { id?: string | null } {
  if (form.id === 'given' || form.id === 'repeated') return { id: expectedId(form, turn, at) };
  if (form.id === 'missing') return {};
  return { id: form.id === 'null' ? null : '' };
}

function toCall(call: LogicalCall, form: OpenAiVariant): { name: string; arguments?: unknown } {
  const text = JSON.stringify(call.arguments);
  if (call.name === 'now') return { name: call.name, ...noArguments(form.noArguments) };
  if (form.arguments === 'object') return { name: call.name, arguments: call.arguments };
  return { name: call.name, arguments: form.arguments === 'twice' ? JSON.stringify(text) : text };
}

function noArguments(kind: OpenAiVariant['noArguments']): { arguments?: unknown } {
  if (kind === 'missing') return {};
  return { arguments: kind === 'json-null' ? null : kind === 'json-object' ? {} : kind };
}

/** The fragments of all calls, in the order of the wire. */
function callDeltas({ calls }: LogicalReply, form: OpenAiVariant, turn: number): object[] {
  const perCall = calls.map((call, at) => fragmentsOf(call, at, form, turn));
  if (form.fragments === 'interleaved') return interleaved(perCall);
  return (form.index === 'unordered' ? perCall.toReversed() : perCall).flat();
}

function fragmentsOf(call: LogicalCall, at: number, form: OpenAiVariant, turn: number): object[] {
  const index = indexOf(form, at);
  const id = idOf(form, turn, at);
  const whole = toCall(call, form);
  const text = whole.arguments;
  if (form.fragments === 'whole' || typeof text !== 'string')
    return [{ ...index, ...id, type: 'function', function: whole }];
  const isNamed = form.fragments === 'named';
  return [
    { ...index, ...id, type: 'function', function: { name: call.name, arguments: '' } },
    ...piecesOf(text, form.piece).map((piece) => ({
      ...index,
      ...(isNamed && id),
      function: { ...(isNamed && { name: call.name }), arguments: piece },
    })),
  ];
}

function indexOf({ index }: OpenAiVariant, at: number): { index?: number | null } {
  if (index === 'missing') return {};
  if (index === 'null') return { index: null };
  return { index: index === 'zero' ? 0 : at };
}

function interleaved(perCall: readonly (readonly object[])[]): object[] {
  const longest = Math.max(0, ...perCall.map(({ length }) => length));
  return Array.from({ length: longest }, (_, n) => perCall.flatMap((all) => all.slice(n, n + 1))).flat();
}

function contentOf({ text, reasoning }: LogicalReply, form: OpenAiVariant): string {
  return form.reasoning === 'think' && reasoning !== '' ? `<think>\n${reasoning}\n</think>\n\n${text}` : text;
}

function contentField(text: string, form: OpenAiVariant, before: readonly object[] = []): object {
  if (before.length > 0) return { content: [...before, ...(text === '' ? [] : [{ type: 'text', text }])] };
  if (text === '') return emptyContent(form);
  return { content: form.content === 'parts' ? [{ type: 'text', text }] : text };
}

function emptyContent({ noContent }: OpenAiVariant): object {
  if (noContent === 'missing') return {};
  return { content: noContent === 'null' ? null : noContent === 'no-parts' ? [] : '' };
}

function partOf(reasoning: string, form: OpenAiVariant): object[] {
  if (form.reasoning !== 'part' || reasoning === '') return [];
  return [{ type: 'thinking', thinking: [{ type: 'text', text: reasoning }] }];
}

function reasoningField(reasoning: string, { reasoning: kind }: OpenAiVariant): object {
  if (reasoning === '' || kind === 'think' || kind === 'part') return {};
  return kind === 'both' ? { reasoning_content: '', reasoning } : { [kind]: reasoning };
}

function reasoningDeltas(reasoning: string, form: OpenAiVariant): object[] {
  if (form.reasoning === 'think') return [];
  return piecesOf(reasoning, form.piece).map((piece) =>
    form.reasoning === 'part' ? { content: partOf(piece, form) } : reasoningField(piece, form),
  );
}

function finishField({ calls }: LogicalReply, { finish }: OpenAiVariant): { finish_reason?: string | null } {
  if (finish === 'absent') return {};
  if (finish === 'null') return { finish_reason: null };
  if (finish === 'empty') return { finish_reason: '' };
  return { finish_reason: finish === 'usual' ? (calls.length > 0 ? 'tool_calls' : 'stop') : finish };
}

function usageOf({ usage: [prompt, completion] }: LogicalReply) {
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}
