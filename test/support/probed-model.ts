import type { FakeCall, FakeMessage, FakeRequest } from './fake-llm.types.js';

const WORDS = 'ONE TWO THREE FOUR FIVE SIX'.split(' ');

/** The reply of a good model to a request of the probe, in the formats of OpenAI and Anthropic. */
export function probedReply(request: FakeRequest): FakeMessage {
  const last = request.messages.at(-1)!;
  const text = textOf(last.content);
  const calls = last.role === 'user' && !hasResult(last.content) ? callsFor(request, text) : [];
  if (calls.length > 0) return { calls };
  return answerTo(request, text);
}

/** Answers by the words of a question; the first match counts. */
const ANSWERS: readonly (readonly [RegExp, (request: FakeRequest, text: string) => FakeMessage])[] = [
  [/Repeat this text/, (_request, text) => ({ text: text.slice(text.indexOf(':') + 2) })],
  // Beside an image that has no text, it is a result of the Responses API.
  [/Which colour|What tool|One photo|^\s*$/, ({ messages }) => ({ text: hasImage(messages) ? 'Red' : 'None' })],
  [/JSON/, () => ({ text: '{"city":"Oslo","celsius":17}' })],
  [/ONE TWO/, (request) => ({ text: WORDS.slice(0, hasStop(request) ? 3 : WORDS.length).join(' ') })],
  [/1 to 200/, (request) => ({ text: 'one two', ...(hasLimit(request) && { finishReason: 'length' }) })],
  [/1 to 20 /, () => ({ text: 'one two three' })],
];

function answerTo(request: FakeRequest, text: string): FakeMessage {
  const system = textOf([request['system'], request.messages[0]?.content]);
  if (system.includes('word NEST')) return { text: 'NEST 4' };
  const [, answer] = ANSWERS.find(([words]) => words.test(text)) ?? [];
  return answer?.(request, text) ?? { text: 'ready' };
}

function callsFor(request: FakeRequest, text: string): FakeCall[] {
  const choice = JSON.stringify(request['tool_choice'] ?? 'auto');
  if (choice.includes('"none"') || text.includes('Call no tool')) return [];
  const names = toolNames(request);
  const asked = names.find((name) => text.includes(`Call the tool ${name}`));
  const name = asked ?? (/required|"any"|"name"/.test(choice) ? names[0] : undefined);
  if (name === 'find_item') return [{ name, arguments: { id: 7 } }];
  if (name !== 'get_weather') return name === undefined ? [] : [{ name, arguments: '' }];
  const cities = text.match(/Oslo|Rome/g) ?? ['Oslo'];
  return cities.map((city) => ({ name, arguments: { city } }));
}

function hasImage(messages: FakeRequest['messages']): boolean {
  return JSON.stringify(messages).includes('"image');
}

function toolNames({ tools = [] }: FakeRequest): string[] {
  return tools.map((tool) => tool.function?.name ?? (tool as unknown as { name: string }).name);
}

function hasResult(content: unknown): boolean {
  return Array.isArray(content) && content.some((part: { type?: string }) => part.type === 'tool_result');
}

function hasStop(request: FakeRequest): boolean {
  return request['stop'] !== undefined || request['stop_sequences'] !== undefined;
}

function hasLimit(request: FakeRequest): boolean {
  return Number(request['max_tokens'] ?? request['max_completion_tokens'] ?? Infinity) <= 64;
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) return content.map(textOf).join('\n');
  if (typeof content !== 'object' || content === null) return '';
  const { text, content: inner } = content as { readonly text?: unknown; readonly content?: unknown };
  return [text, inner].map(textOf).join('\n');
}
