import { argumentsOf, words } from './chat-completion.mapper.js';
import type { FakeMessage, FakeRequest } from './fake-provider.types.js';

interface Block {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** A message in the form of Anthropic's Messages API (platform.claude.com, "Messages"). */
export function toMessage(reply: FakeMessage, request: FakeRequest): Record<string, unknown> {
  return {
    ...head(reply, request),
    content: blocksOf(reply).map(({ json, ...block }) =>
      json === undefined ? block : { ...block, input: toInput(json) },
    ),
    stop_reason: stopReasonOf(reply),
    stop_sequence: null,
    usage: usageOf(reply),
  };
}

/** A message in the form of a stream: its events, in order (platform.claude.com, "Streaming messages"). */
export function toMessageEvents(reply: FakeMessage, request: FakeRequest): readonly unknown[] {
  const usage = usageOf(reply);
  const stop_reason = stopReasonOf(reply);
  return [
    {
      type: 'message_start',
      message: {
        ...head(reply, request),
        content: [],
        stop_reason: null,
        usage: usage && { ...usage, output_tokens: 1 },
      },
    },
    { type: 'ping' },
    ...blocksOf(reply).flatMap(toBlockEvents),
    ...(stop_reason === null
      ? []
      : [{ type: 'message_delta', delta: { stop_reason }, usage: usage && { output_tokens: usage.output_tokens } }]),
    { type: 'message_stop' },
  ];
}

function head({ model }: FakeMessage, request: FakeRequest) {
  return { id: 'msg_fake', type: 'message', role: 'assistant', model: model ?? request.model };
}

function blocksOf({ reasoning, text, refusal, calls = [] }: FakeMessage): Block[] {
  const said = text ?? refusal;
  return [
    ...(reasoning === undefined ? [] : [{ type: 'thinking', thinking: reasoning, signature: 'signed-by-the-fake' }]),
    ...(said === undefined ? [] : [{ type: 'text', text: said }]),
    ...calls.map((call, i) => ({
      type: 'tool_use',
      id: call.id ?? `toolu_fake_${i}`,
      name: call.name,
      json: argumentsOf(call),
    })),
  ];
}

/** Texts arrive word by word, an input in two halves, a signature at the end of its thoughts. */
function toBlockEvents(block: Block, index: number): unknown[] {
  const event = (delta: unknown) => ({ type: 'content_block_delta', index, delta });
  const { json, ...rest } = block;
  const text = typeof json === 'string' ? json : '';
  const middle = Math.ceil(text.length / 2);
  const start = {
    ...rest,
    ...(block['text'] !== undefined && { text: '' }),
    ...(block['thinking'] !== undefined && { thinking: '', signature: '' }),
    ...(json !== undefined && { input: {} }),
  };
  return [
    { type: 'content_block_start', index, content_block: start },
    ...words(block['thinking'] as string).map((thinking) => event({ type: 'thinking_delta', thinking })),
    ...(block['signature'] === undefined ? [] : [event({ type: 'signature_delta', signature: block['signature'] })]),
    ...words(block['text'] as string).map((piece) => event({ type: 'text_delta', text: piece })),
    ...[text.slice(0, middle), text.slice(middle)]
      .filter((half) => half !== '')
      .map((partial_json) => event({ type: 'input_json_delta', partial_json })),
    { type: 'content_block_stop', index },
  ];
}

/** Maps OpenAI's finish reasons, as scripts name them, to Anthropic's stop reasons; others are unchanged. */
function stopReasonOf({ finishReason, calls, refusal }: FakeMessage): string | null {
  const names: Readonly<Record<string, string>> = {
    stop: 'end_turn',
    tool_calls: 'tool_use',
    length: 'max_tokens',
    content_filter: 'refusal',
  };
  if (finishReason === null) return null;
  const usual = refusal === undefined ? (calls ? 'tool_calls' : 'stop') : 'content_filter';
  return names[finishReason ?? usual] ?? finishReason ?? usual;
}

function usageOf({ usage = [10, 5] }: FakeMessage) {
  return usage ? { input_tokens: usage[0], output_tokens: usage[1] } : undefined;
}

function toInput(json: unknown): unknown {
  try {
    return JSON.parse(String(json));
  } catch {
    return json;
  }
}
