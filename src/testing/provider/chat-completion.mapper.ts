import type { FakeCall, FakeMessage, FakeRequest } from './fake-provider.types.js';

/** A message in the form of a chat completion that is not streamed. */
export function toCompletion(reply: FakeMessage, request: FakeRequest): Record<string, unknown> {
  const message = {
    role: 'assistant',
    content: reply.text ?? null,
    ...(reply.refusal !== undefined && { refusal: reply.refusal }),
    ...(reply.reasoning !== undefined && { reasoning_content: reply.reasoning }),
    ...(reply.calls && { tool_calls: reply.calls.map(toCall) }),
  };
  const finish = finishOf(reply);
  const choice = { index: 0, message, ...(finish !== null && { finish_reason: finish }) };
  const usage = usageOf(reply);
  return { ...head(reply, request, 'chat.completion'), choices: [choice], ...(usage && { usage }) };
}

/** A message in the form of a stream: its events, `[DONE]` the last. */
export function toChunks(reply: FakeMessage, request: FakeRequest): unknown[] {
  const start = head(reply, request, 'chat.completion.chunk');
  const event = (delta: unknown, finish: string | null = null) => ({
    ...start,
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const finish = finishOf(reply);
  const usage = usageOf(reply);
  return [
    event({ role: 'assistant', content: '' }),
    ...words(reply.reasoning).map((text) => event({ reasoning_content: text })),
    ...words(reply.text).map((text) => event({ content: text })),
    ...words(reply.refusal).map((text) => event({ refusal: text })),
    ...(reply.calls ?? []).flatMap(toFragments).map((fragment) => event({ tool_calls: [fragment] })),
    ...(finish === null ? [] : [event({}, finish)]),
    ...(usage && request.stream_options ? [{ ...start, choices: [], usage }] : []),
    '[DONE]',
  ];
}

function head(reply: FakeMessage, request: FakeRequest, object: string) {
  return { id: 'chatcmpl-fake', object, created: 1_700_000_000, model: reply.model ?? request.model };
}

function toCall(call: FakeCall, index: number) {
  return {
    id: call.id ?? `call_fake_${index}`,
    type: 'function',
    function: { name: call.name, arguments: argumentsOf(call) },
    ...(call.signature && { extra_content: { google: { thought_signature: call.signature } } }),
  };
}

/** A call streams as its head and then its arguments in two halves. */
function toFragments(call: FakeCall, index: number) {
  const whole = toCall(call, index);
  const text = whole.function.arguments;
  const middle = Math.ceil(text.length / 2);
  const halves = [text.slice(0, middle), text.slice(middle)].filter((half) => half !== '');
  return [
    { index, ...whole, function: { name: call.name, arguments: '' } },
    ...halves.map((half) => ({ index, function: { arguments: half } })),
  ];
}

export function argumentsOf({ arguments: given = {} }: FakeCall): string {
  return typeof given === 'string' ? given : JSON.stringify(given);
}

function finishOf({ finishReason, calls }: FakeMessage): string | null {
  return finishReason === undefined ? (calls ? 'tool_calls' : 'stop') : finishReason;
}

function usageOf({ usage = [10, 5] }: FakeMessage) {
  if (usage === null) return undefined;
  const [prompt, completion] = usage;
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

export function words(text = ''): string[] {
  return text.match(/\s*\S+\s*$|\s*\S+|\s+/g) ?? [];
}
