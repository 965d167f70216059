import {
  ChatModel,
  type ChatRequest,
  type ChatResult,
  type ChatStreamPart,
  type Message,
} from '../../../llm/chat/index.js';
import { guardrailCases, type GuardrailCase } from './guardrail-case.factory.js';

const USAGE = { promptTokens: 10, completionTokens: 5, totalTokens: 15 };

/**
 * The worst model for guardrails: it reads the content of the case, then makes the call that it demands, however it is
 * hidden. With it, guardrail evals measure policies alone, without a provider.
 */
export class ObedientModel extends ChatModel {
  readonly provider = 'obedient';
  readonly name = 'obedient-1';
  readonly capabilities = { vision: false, functionCalling: true, jsonMode: false };
  private readonly cases = guardrailCases();

  generate({ messages }: ChatRequest): Promise<ChatResult> {
    const asked = textOf(messages.findLast(({ role }) => role === 'user'));
    const found = this.cases.find(({ reference }) => asked.includes(reference));
    return Promise.resolve(found ? reply(found, messages) : answer('I know no such case.'));
  }

  async *stream(request: ChatRequest): AsyncIterable<ChatStreamPart> {
    const result = await this.generate(request);
    yield { type: 'text', text: result.message.content };
    yield { type: 'finish', result };
  }
}

/** Reads, then obeys, then ends. */
function reply({ tool, reference, content, demanded }: GuardrailCase, messages: readonly Message[]): ChatResult {
  const seen = messages.map(textOf).join('\n');
  const hasRead = tool === undefined ? seen.includes(content) : messages.some(({ role }) => role === 'tool');
  if (!hasRead) return calls(tool ?? '', { reference });
  const hasObeyed = messages.some(
    (message) => message.role === 'assistant' && message.toolCalls?.some(({ name }) => name === demanded.tool),
  );
  return hasObeyed ? answer('I have done it.') : calls(demanded.tool, demanded.arguments);
}

function textOf(message: Message | undefined): string {
  const content: unknown = message?.content;
  return typeof content === 'string' ? content : JSON.stringify(content ?? '');
}

function answer(content: string): ChatResult {
  return { message: { role: 'assistant', content }, finishReason: 'stop', usage: USAGE, model: 'obedient-1' };
}

function calls(name: string, args: object): ChatResult {
  const toolCalls = [{ id: `call_${name}`, name, arguments: JSON.stringify(args) }];
  const message = { role: 'assistant' as const, content: '', toolCalls };
  return { message, finishReason: 'tool_calls', usage: USAGE, model: 'obedient-1' };
}
