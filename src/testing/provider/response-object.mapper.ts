import { argumentsOf, words } from './chat-completion.mapper.js';
import type { FakeMessage, FakeRequest, FakeRequestMessage } from './fake-provider.types.js';

type Item = Readonly<Record<string, unknown>>;

/** A message in the form of a response (developers.openai.com, "Responses API", the response object). */
export function toResponse(reply: FakeMessage, request: FakeRequest): Record<string, unknown> {
  return { ...ended(reply, request), output: itemsOf(reply, request) };
}

/**
 * A message in the form of a stream: its events in groups, one group per chunk. As with chat completions, the first
 * chunk has no text, and then each has one word or fragment.
 */
export function toResponseEvents(reply: FakeMessage, request: FakeRequest): unknown[][] {
  const items = itemsOf(reply, request);
  const start = { ...head(reply, request), status: 'in_progress', output: [] };
  const chunks = items.map(toChunks);
  const end = reply.finishReason === null ? [] : [endEvent(reply, request, items)];
  const last = chunks.flatMap(({ done }) => done);
  const all = [
    [
      { type: 'response.created', response: start },
      { type: 'response.in_progress', response: start },
    ],
    ...chunks.flatMap(({ events }) => events),
    [...last, ...end],
  ];
  let sequence = 0;
  return all.map((group) => group.map((event) => ({ ...event, sequence_number: sequence++ })));
}

function endEvent(reply: FakeMessage, request: FakeRequest, output: readonly Item[]) {
  const response = { ...ended(reply, request), output };
  return { type: `response.${response.status}`, response };
}

function head({ model }: FakeMessage, request: FakeRequest) {
  return {
    id: 'resp_fake',
    object: 'response',
    created_at: 1_700_000_000,
    model: model ?? request.model,
    error: null,
    incomplete_details: null,
    instructions: null,
    parallel_tool_calls: true,
    store: false,
  };
}

function ended(reply: FakeMessage, request: FakeRequest) {
  const reason = REASONS[reply.finishReason ?? ''];
  const usage = usageOf(reply);
  return {
    ...head(reply, request),
    status: reason ? 'incomplete' : 'completed',
    ...(reason && { incomplete_details: { reason } }),
    ...(usage && { usage }),
  };
}

/** The finish reasons of scripts, as reasons of an incomplete response. */
const REASONS: Readonly<Record<string, string>> = {
  length: 'max_output_tokens',
  content_filter: 'content_filter',
};

function usageOf({ usage = [10, 5] }: FakeMessage) {
  if (usage === null) return undefined;
  const [input, output] = usage;
  return {
    input_tokens: input,
    output_tokens: output,
    total_tokens: input + output,
  };
}

let replies = 0;

function itemsOf({ reasoning, text, refusal, calls = [] }: FakeMessage, request: FakeRequest): Item[] {
  const reply = ++replies;
  const id = (kind: string, n = 0) => `${kind}_fake_${reply}_${n}`;
  const parts = [
    ...(text === undefined ? [] : [{ type: 'output_text', text, annotations: [], logprobs: [] }]),
    ...(refusal === undefined ? [] : [{ type: 'refusal', refusal }]),
  ];
  return [
    ...(reasoning === undefined ? [] : [toReasoning(reasoning, id('rs'), request.model)]),
    ...(parts.length === 0
      ? []
      : [{ type: 'message', id: id('msg'), role: 'assistant', status: 'completed', content: parts }]),
    ...calls.map((call, n) => ({
      type: 'function_call',
      id: id('fc', n),
      call_id: call.id ?? `call_fake_${n}`,
      name: call.name,
      arguments: argumentsOf(call),
      status: 'completed',
    })),
  ];
}

function toReasoning(text: string, id: string, model: string): Item {
  // Requests have no unpaired surrogates.
  const encrypted_content = encryptedContent(id, model, text.toWellFormed());
  return { type: 'reasoning', id, summary: [{ type: 'summary_text', text }], encrypted_content };
}

interface Chunks {
  readonly events: Item[][];
  /** Events at the end of the item; they share a chunk with the end of the response. */
  readonly done: Item[];
}

function toChunks(item: Item, index: number): Chunks {
  const place = { output_index: index, item_id: item['id'] };
  const [start, deltas] = partsOf(item);
  const added = { type: 'response.output_item.added', output_index: index, item: start };
  const events = deltas.map((delta) => [{ ...delta, ...place }]);
  const [first = [], ...rest] = events;
  const done = [{ type: 'response.output_item.done', output_index: index, item }];
  // The head of a call is a chunk of its own, as with chat completions.
  return item['type'] === 'function_call'
    ? { events: [[added], ...events], done }
    : { events: [[added, ...first], ...rest], done };
}

/** The item at its start, and its deltas. */
function partsOf(item: Item): [Item, Item[]] {
  switch (item['type']) {
    case 'reasoning': {
      const [{ text }] = item['summary'] as [{ text: string }];
      const start = { ...item, summary: [], encrypted_content: 'incomplete' };
      return [
        start,
        words(text).map((delta) => ({ type: 'response.reasoning_summary_text.delta', summary_index: 0, delta })),
      ];
    }
    case 'function_call': {
      const text = item['arguments'] as string;
      const middle = Math.ceil(text.length / 2);
      const halves = [text.slice(0, middle), text.slice(middle)].filter((half) => half !== '');
      return [
        { ...item, arguments: '', status: 'in_progress' },
        halves.map((delta) => ({ type: 'response.function_call_arguments.delta', delta })),
      ];
    }
    default: {
      const content = item['content'] as readonly { text?: string; refusal?: string }[];
      const deltas = content.flatMap(({ text, refusal }, content_index) => [
        ...words(text).map((delta) => ({ type: 'response.output_text.delta', content_index, delta })),
        ...words(refusal).map((delta) => ({ type: 'response.refusal.delta', content_index, delta })),
      ]);
      return [{ ...item, content: [], status: 'in_progress' }, deltas];
    }
  }
}

/** The messages and tools of a request in the form of chat completions, so that tests read them independent of the API. */
export function toChatRequest(body: Readonly<Record<string, unknown>>): FakeRequest {
  const { input, tools, tool_choice: choice, text, max_output_tokens: most, reasoning, ...rest } = body;
  const effort = (reasoning as Item | undefined)?.['effort'];
  const named =
    typeof choice === 'object' && choice ? { type: 'function', function: { name: (choice as Item)['name'] } } : choice;
  return {
    ...rest,
    messages: toMessages(Array.isArray(input) ? (input as Item[]) : []),
    ...(Array.isArray(tools) && {
      tools: (tools as Item[]).map(({ type, ...called }) => ({ type, function: called })),
    }),
    ...(choice !== undefined && { tool_choice: named }),
    ...(text !== undefined && { response_format: toFormat((text as Item)['format'] as Item) }),
    ...(most !== undefined && { max_completion_tokens: most }),
    ...(effort !== undefined && { reasoning_effort: effort }),
  } as unknown as FakeRequest;
}

function toFormat({ type, ...schema }: Item): Item {
  return type === 'json_schema' ? { type, json_schema: schema } : { type };
}

/** A reply's items become one message: its text and its calls. */
function toMessages(items: readonly Item[]): FakeRequestMessage[] {
  const messages: Record<string, unknown>[] = [];
  for (const item of items) {
    const last = messages.at(-1);
    if (item['type'] === 'message') messages.push({ role: item['role'], content: toContent(item['content']) });
    else if (item['type'] === 'function_call_output') messages.push(...toResults(item));
    else if (item['type'] === 'function_call' && last?.['role'] === 'assistant') {
      last['tool_calls'] = [...((last['tool_calls'] as unknown[]) ?? []), toCall(item)];
    } else if (item['type'] === 'function_call') {
      messages.push({ role: 'assistant', content: null, tool_calls: [toCall(item)] });
    }
  }
  return messages as unknown as FakeRequestMessage[];
}

function toCall({ call_id, name, arguments: args }: Item): Item {
  return { id: call_id, type: 'function', function: { name, arguments: args } };
}

/** Chat completions have the images of a result in a user message after it. */
function toResults({ call_id, output }: Item): Item[] {
  const parts = toContent(output);
  if (!Array.isArray(parts)) return [{ role: 'tool', tool_call_id: call_id, content: parts }];
  const [first, ...images] = parts as readonly Item[];
  return [
    { role: 'tool', tool_call_id: call_id, content: first?.['text'] },
    { role: 'user', content: images },
  ];
}

function toContent(content: unknown): unknown {
  if (!Array.isArray(content)) return content;
  return (content as Item[]).map(({ type, text, image_url }) =>
    type === 'input_image' ? { type: 'image_url', image_url: { url: image_url } } : { type: 'text', text },
  );
}

/** The encrypted content of a reasoning item. */
export function encryptedContent(id: string, model: string, text: string): string {
  return Buffer.from(JSON.stringify([id, model, text])).toString('base64');
}
