import { ChatModel } from '../../chat-model.js';
import type { CallOptions, ChatRequest, ChatResult, ChatStreamPart, Usage } from '../../chat.types.js';
import type { AssistantMessage, Message, ToolMessage, UserMessage } from '../../message.types.js';
import { capabilitiesOf } from './capabilities.mapper.js';
import type { OfflineAnswer, OfflineQuestion } from './offline-rule.types.js';
import { OFFLINE_RULES } from './offline-rules.registry.js';
import { describeSelf, lacksTool, toolFailed } from './offline-text.mapper.js';

/** A rough count: a token of English text is about four characters (help.openai.com, "What are tokens"). */
const CHARS_PER_TOKEN = 4;

/**
 * A chat model of a few rules, without network: it makes the first minute work without a key. It plans real tool
 * calls and answers from their results. The same request always gets the same reply; usage is an estimate.
 */
export class OfflineModel extends ChatModel {
  readonly provider = 'offline';
  readonly name = 'offline';
  readonly capabilities = capabilitiesOf('offline');

  generate(request: ChatRequest, options: CallOptions = {}): Promise<ChatResult> {
    return options.signal?.aborted ? Promise.reject(options.signal.reason) : Promise.resolve(answer(request));
  }

  /** Streams word by word. */
  async *stream(request: ChatRequest, options: CallOptions = {}): AsyncGenerator<ChatStreamPart, void> {
    const result = await this.generate(request, options);
    for (const text of result.message.content.match(/\s*\S+/g) ?? []) {
      options.signal?.throwIfAborted();
      yield { type: 'text', text };
    }
    yield { type: 'finish', result };
  }
}

function answer(request: ChatRequest): ChatResult {
  const message = reply(request);
  return {
    message,
    finishReason: message.toolCalls ? 'tool_calls' : 'stop',
    usage: estimate(request.messages, message),
    model: 'offline',
  };
}

function reply(request: ChatRequest): AssistantMessage {
  const { messages } = request;
  const asked = messages.findLastIndex((message) => message.role === 'user');
  const question = toQuestion(messages[asked]);
  const results = messages.slice(asked + 1).filter((message) => message.role === 'tool');
  if (results.length > 0) return say(results.map((result) => report(result, question)).join('\n'));
  for (const rule of OFFLINE_RULES) {
    const found = rule(question);
    if (found) return carryOut(found, question, request);
  }
  return say(describeSelf(question.isChinese));
}

function carryOut(planned: OfflineAnswer, { isChinese }: OfflineQuestion, request: ChatRequest): AssistantMessage {
  if (planned.kind === 'say') return say(planned.text);
  if (!request.tools?.some((tool) => tool.name === planned.tool)) return say(lacksTool(planned.tool, isChinese));
  const turn = 1 + request.messages.filter((message) => message.role === 'assistant' && message.toolCalls).length;
  const call = { id: `call_${turn}_1`, name: planned.tool, arguments: JSON.stringify(planned.arguments) };
  return { role: 'assistant', content: '', toolCalls: [call] };
}

function report(result: ToolMessage, { isChinese }: OfflineQuestion): string {
  return result.content.startsWith('Error:') ? toolFailed(result.name, result.content, isChinese) : result.content;
}

function toQuestion(message: Message | undefined): OfflineQuestion {
  const text = message?.role === 'user' ? textOf(message) : '';
  return { text, isChinese: /\p{Script=Han}/u.test(text) };
}

function textOf({ content }: UserMessage): string {
  return typeof content === 'string' ? content : content.map((part) => part.text).join('\n');
}

function say(content: string): AssistantMessage {
  return { role: 'assistant', content };
}

function estimate(messages: readonly Message[], replied: AssistantMessage): Usage {
  const promptTokens = tokens(messages.reduce((sum, message) => sum + size(message), 0));
  const completionTokens = tokens(size(replied));
  return { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens };
}

function tokens(chars: number): number {
  return Math.ceil(chars / CHARS_PER_TOKEN);
}

function size(message: Message): number {
  if (message.role === 'user') return textOf(message).length;
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
  return calls.reduce((sum, call) => sum + call.name.length + call.arguments.length, message.content.length);
}
