import type { JsonSchema } from '../../../kernel/json/index.js';
import type {
  AssistantMessage,
  ChatRequest,
  ChatResult,
  Message,
  ToolMessage,
  UserMessage,
} from '../../../llm/chat/index.js';
import type { Tool } from '../../../tool/method/index.js';
import {
  type Conversation,
  type DecodeContext,
  type DecodedReply,
  isCut,
  joinThoughts,
  Protocol,
  type StreamDecoder,
  toDecodedReply,
} from '../protocol.js';
import { toResultsOfUser } from '../shown-image.mapper.js';
import { toToolCalls, writeCalls } from './call.mapper.js';
import { escapeAttribute, escapeMarkup } from './entity.mapper.js';
import { ReplyParser } from './reply.parser.js';

/**
 * Maps messages to text: calls become a block, and the results after them one user message. The given messages are not
 * changed.
 */
export function toTextMessages(messages: readonly Message[], tools: readonly Tool[]): Message[] {
  const written: Message[] = [];
  let results: ToolMessage[] = [];
  for (const message of messages) {
    if (message.role === 'tool') {
      results.push(message);
      continue;
    }
    if (results.length > 0) written.push(toResultMessage(results));
    results = [];
    written.push(toTextMessage(message, tools));
  }
  if (results.length > 0) written.push(toResultMessage(results));
  return written;
}

function toTextMessage(message: Exclude<Message, ToolMessage>, tools: readonly Tool[]): Message {
  switch (message.role) {
    case 'system':
      return message;
    case 'user':
      return toTextUser(message);
    case 'assistant':
      return toTextAssistant(message, tools);
  }
}

/** Escapes all text parts together, since markup may span several parts. */
function toTextUser(message: UserMessage): Message {
  const { content } = message;
  const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const escaped = escapeMarkup(text);
  if (escaped === text) return message;
  const images = parts.filter(({ type }) => type === 'image');
  return { role: 'user', content: images.length > 0 ? [...images, { type: 'text', text: escaped }] : escaped };
}

function toTextAssistant({ content, toolCalls = [] }: AssistantMessage, tools: readonly Tool[]): Message {
  const text = escapeMarkup(content);
  if (toolCalls.length === 0) return { role: 'assistant', content: text };
  const block = writeCalls(toolCalls, tools);
  return { role: 'assistant', content: text === '' ? block : `${text}\n\n${block}` };
}

function toResultMessage(results: readonly ToolMessage[]): Message {
  const lines = results.map(({ name, content }) => {
    return `<result tool="${escapeAttribute(name)}">${escapeMarkup(content)}</result>`;
  });
  const text = ['<function_results>', ...lines, '</function_results>'].join('\n');
  return toResultsOfUser(text, results, (tool) => `Shown by ${escapeMarkup(tool)}:`);
}

const FORMAT = `To use a tool, write exactly this block and then stop:

<function_calls>
<invoke name="tool_name">
<parameter name="argument_name">value</parameter>
</invoke>
</function_calls>

- One <invoke> for each call; independent calls go into one block.
- Write a string as it is. Write a number, a boolean, an array or an object as JSON.
- In a string write &lt; for <, &gt; for > and &amp; for &.
- The results come with the next message, in <function_results>. Never write them yourself.
- When you need no tool, answer without a block.`;

/** Prompt section that describes the tools and the format of calls. */
export function describe(tools: readonly Tool[]): string {
  return ['You can use these tools:', tools.map(describeTool).join('\n'), FORMAT].join('\n\n');
}

function describeTool({ definition: { name, description, inputSchema } }: Tool): string {
  const { properties, required } = inputSchema;
  const names = new Set(Array.isArray(required) ? (required as readonly unknown[]) : []);
  const lines = Object.entries(isRecord(properties) ? properties : {}).map(([key, schema]) =>
    describeArgument(key, isRecord(schema) ? schema : {}, names.has(key)),
  );
  return [`- ${name}: ${toLine(description)}`, ...lines].join('\n');
}

function describeArgument(name: string, schema: JsonSchema, isRequired: boolean): string {
  const { description, ...rest } = schema;
  const kind = `${toType(rest)}, ${isRequired ? 'required' : 'optional'}`;
  const text = typeof description === 'string' ? `: ${toLine(description)}` : '';
  return `  - ${toLine(name)} (${kind})${text}`;
}

/** A plain type by its name, others by their schema. */
function toType(schema: JsonSchema): string {
  const { type } = schema;
  return typeof type === 'string' && Object.keys(schema).length === 1 ? type : toLine(JSON.stringify(schema));
}

/** One line without the protocol's markup, since descriptions may be untrusted. */
function toLine(text: string): string {
  return escapeMarkup(text.replace(/\s+/g, ' ').trim());
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Tools and calls as XML in plain text, for models without function calling. It sets no stop sequence: some models
 * reject one, and the text after the calls is dropped anyway.
 */
export class XmlProtocol extends Protocol {
  readonly name = 'xml';

  describeTools(tools: readonly Tool[]): string {
    return describe(tools);
  }

  encode({ instructions, messages, tools, parameters }: Conversation): ChatRequest {
    const system: Message[] = instructions === '' ? [] : [{ role: 'system', content: instructions }];
    return { messages: [...system, ...toTextMessages(messages, tools)], ...(parameters && { parameters }) };
  }

  decode(result: ChatResult, { tools, iteration }: DecodeContext): DecodedReply {
    const { content, reasoning = '' } = result.message;
    const parser = new ReplyParser();
    const text = parser.push(content) + parser.end();
    const thought = joinThoughts(reasoning, parser.thoughts);
    return toDecodedReply(text, thought, isCut(result) ? [] : toToolCalls(parser.calls, tools, iteration));
  }

  decodeStream(): StreamDecoder {
    return new ReplyParser();
  }
}
