import { ChatModel } from '../../chat/chat-model.js';
import type { CallOptions, ChatRequest, ChatResult, ChatStreamPart, Usage } from '../../chat/chat.types.js';
import type { AssistantMessage, Message } from '../../chat/message.types.js';
import { capabilitiesOf } from './capabilities.mapper.js';
import { textOf, toConversation } from './offline-conversation.mapper.js';
import { questionOf, replyTo } from './offline-reply.builder.js';

/** Estimate: a token of English text has about four characters (help.openai.com, article on tokens). */
const CHARS_PER_TOKEN = 4;
/** Word boundaries. Chinese has no spaces, so it is streamed by character. */
const BETWEEN_WORDS = /(?<=\s)(?=\S)|(?<=\p{Script=Han})(?=\p{Script=Han})/u;

/**
 * A chat model of a few rules, without network access, so that Jackdaw starts without a key. It plans real tool calls,
 * by function calling or in the text dialect of the system message, and answers from their results. Deterministic;
 * usage is an estimate.
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
    const { content } = result.message;
    for (const text of content === '' ? [] : content.split(BETWEEN_WORDS)) {
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
  const conversation = toConversation(request);
  const question = questionOf(conversation);
  const replied = replyTo(question, conversation);
  const { dialect } = conversation;
  if (dialect) return { role: 'assistant', content: dialect.write(replied, question.isChinese) };
  if (!('calls' in replied)) return { role: 'assistant', content: replied.text };
  const turn = 1 + request.messages.filter((message) => message.role === 'assistant' && message.toolCalls).length;
  const toolCalls = replied.calls.map((call, i) => ({
    id: `call_${turn}_${i + 1}`,
    name: call.tool,
    arguments: JSON.stringify(call.arguments),
  }));
  return { role: 'assistant', content: '', toolCalls };
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
