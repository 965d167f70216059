import type { ChatRequest, ToolSpec } from '../../chat/chat.types.js';
import type { AssistantMessage, Message, UserMessage } from '../../chat/message.types.js';
import type { OfflineReply, TextDialect } from './offline-dialect.types.js';
import type { OfflineParameter, OfflineTool } from './offline-rule.types.js';
import { XML_DIALECT } from './offline-xml.mapper.js';

const ACTION = /^Action:[ \t]*(\S+)/gm;
const FINAL = /^Final Answer:[ \t]*/m;
/** A parameter of a tool in the system text. */
const PARAMETER = /(\S+) \((\w+)?(?: \{[^\n]*?\})?, (required|optional)\)/g;
const OBSERVATION = /^Observation(?: \([^)\n]*\))?:[ \t]?/m;

/** ReAct: Thought, Action, Action Input, Observation, Final Answer. */
const REACT_DIALECT: TextDialect = {
  marker: 'Action Input:',
  readParameters: (text) =>
    Array.from(text.matchAll(PARAMETER), ([, name = '', type = '', need]) => ({
      name,
      type,
      isRequired: need === 'required',
    })),
  readCalls: (reply) => Array.from(reply.matchAll(ACTION), ([, name = '']) => name),
  readAnswer: (reply) => {
    const found = FINAL.exec(reply);
    return found ? reply.slice(found.index + found[0].length) : reply;
  },
  readResults: (text) =>
    text
      .split(OBSERVATION)
      .slice(1)
      .map((result) => result.trimEnd()),
  write,
};

function write(reply: OfflineReply, isChinese: boolean): string {
  if (!('calls' in reply)) {
    const thought = isChinese ? '我可以回答了。' : 'I can answer now.';
    return `Thought: ${thought}\nFinal Answer: ${reply.text}`;
  }
  const names = [...new Set(reply.calls.map(({ tool }) => tool))].join(', ');
  const thought = isChinese ? `这需要工具 ${names}。` : `This needs ${names}.`;
  const actions = reply.calls.map(
    ({ tool, arguments: input }) => `Action: ${tool}\nAction Input: ${JSON.stringify(input)}`,
  );
  return [`Thought: ${thought}`, ...actions].join('\n');
}

/** The first dialect whose marker is in the system text applies. */
const DIALECTS = [REACT_DIALECT, XML_DIALECT];
/** A tool in the system text, with its description and the lines of its parameters. */
const LISTED_TOOL = /^- ([^\s:]+): ?(.*)((?:\n  .*)*)/gm;

/** A request in one form, independent of the dialect. */
export interface OfflineConversation {
  /** Without calls or results as text. The arguments of past text calls are omitted. */
  readonly messages: readonly Message[];
  /** The available tools, by name. */
  readonly tools: ReadonlyMap<string, OfflineTool>;
  /** Dialect of the reply; absent with native function calling. */
  readonly dialect?: TextDialect;
}

export function toConversation({ messages, tools = [] }: ChatRequest): OfflineConversation {
  if (tools.length > 0) return { messages, tools: byName(tools.map(toTool)) };
  const system = messages.flatMap((message) => (message.role === 'system' ? message.content : [])).join('\n');
  const dialect = DIALECTS.find(({ marker }) => system.includes(marker));
  if (!dialect) return { messages, tools: new Map() };
  const listed = Array.from(system.matchAll(LISTED_TOOL), ([, name = '', description = '', lines = '']) => ({
    name,
    description,
    parameters: dialect.readParameters(lines),
  }));
  return { messages: fromText(messages, dialect), tools: byName(listed), dialect };
}

function byName(tools: readonly OfflineTool[]): ReadonlyMap<string, OfflineTool> {
  return new Map(tools.map((tool) => [tool.name, tool]));
}

function toTool({ name, description, inputSchema }: ToolSpec): OfflineTool {
  const { properties = {}, required } = inputSchema as { properties?: object; required?: readonly string[] };
  const parameters = Object.entries(properties).map(([key, schema]): OfflineParameter => {
    const { type } = Object(schema) as { type?: unknown };
    return { name: key, type: typeof type === 'string' ? type : '', isRequired: required?.includes(key) ?? false };
  });
  return { name, description, parameters };
}

function fromText(messages: readonly Message[], dialect: TextDialect): Message[] {
  let called: string[] = [];
  return messages.flatMap((message): readonly Message[] => {
    const waiting = called;
    called = [];
    switch (message.role) {
      case 'assistant':
        called = dialect.readCalls(message.content);
        return [called.length > 0 ? toCalling(called) : { ...message, content: dialect.readAnswer(message.content) }];
      case 'user': {
        // Only a message after calls can contain results: a user may write the same words.
        const results = waiting.length > 0 ? dialect.readResults(textOf(message)) : [];
        return results.length > 0 ? results.map((content, i) => toResult(content, i, waiting)) : [message];
      }
      case 'system':
      case 'tool':
        return [message];
    }
  });
}

function toCalling(names: readonly string[]): AssistantMessage {
  const toolCalls = names.map((name, i) => ({ id: `call_${i}`, name, arguments: '' }));
  return { role: 'assistant', content: '', toolCalls };
}

function toResult(content: string, i: number, names: readonly string[]): Message {
  return { role: 'tool', toolCallId: `call_${i}`, name: names[i] ?? '', content };
}

/** The text of a user message. */
export function textOf({ content }: UserMessage): string {
  return typeof content === 'string'
    ? content
    : content.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
}
