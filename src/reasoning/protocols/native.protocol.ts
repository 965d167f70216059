import { toArgumentsText } from '../../llm/index.js';
import type { AssistantMessage, ChatRequest, ChatResult, Message, ToolCall, ToolSpec } from '../../llm/chat/index.js';
import type { Tool } from '../../tool/method/index.js';
import {
  type Conversation,
  type DecodedReply,
  isCut,
  joinThoughts,
  Protocol,
  splitThoughts,
  type StreamDecoder,
  ThinkParser,
  toDecodedReply,
  withinLimit,
} from './protocol.js';

/**
 * Characters that OpenAI and Anthropic reject in a function name, and Anthropic in an id. Models invent such names;
 * tools have none.
 */
const NOT_IN_NAMES = /[^a-zA-Z0-9_-]/g;
const LONGEST_NAME = 64;
/** Maximum length of an id for OpenAI; other providers return longer ones. */
const LONGEST_ID = 40;
/** Leaves room for a suffix that makes the id unique. */
const SHORTENED_ID = 32;

/**
 * Makes messages acceptable to providers. Function names are valid; every call has an id that is unique in the
 * conversation, and its result has the same id. Anthropic requires that, and some servers restart their ids in each
 * reply. Blank text beside calls becomes empty. The given messages are not changed.
 */
export function toSentMessages(messages: readonly Message[]): Message[] {
  const taken = new Set<string>();
  /** New ids of the latest calls, keyed by their original ids. */
  let sentIds = new Map<string, string[]>();
  return messages.map((message) => {
    if (message.role === 'tool') {
      const toolCallId = sentIds.get(message.toolCallId)?.shift();
      return toolCallId === undefined ? message : { ...message, toolCallId };
    }
    if (message.role !== 'assistant' || !message.toolCalls?.length) return message;
    const sent = toSent(message, taken);
    sentIds = sent === message ? new Map() : idsOf(message.toolCalls, sent.toolCalls!);
    return sent;
  });
}

/** @returns the same message if it needs no change */
function toSent(message: AssistantMessage, taken: Set<string>): AssistantMessage {
  const toolCalls = message.toolCalls!.map((call) => toSentCall(call, taken));
  const content = message.content.trim() === '' ? '' : message.content;
  const isSame = content === message.content && toolCalls.every((call, at) => call === message.toolCalls![at]);
  return isSame ? message : { ...message, content, toolCalls };
}

function toSentCall(call: ToolCall, taken: Set<string>): ToolCall {
  const id = freeId(call.id, taken);
  taken.add(id);
  const name = call.name.replace(NOT_IN_NAMES, '_').slice(0, LONGEST_NAME);
  return id === call.id && name === call.name ? call : { ...call, id, name };
}

function freeId(wanted: string, taken: ReadonlySet<string>): string {
  const base = toId(wanted);
  let id = base;
  for (let n = 2; taken.has(id); n++) id = `${base.slice(0, SHORTENED_ID)}_${n}`;
  return id;
}

function toId(wanted: string): string {
  const id = wanted.replace(NOT_IN_NAMES, '_') || 'call';
  return id.length > LONGEST_ID ? id.slice(0, SHORTENED_ID) : id;
}

function idsOf(calls: readonly ToolCall[], sent: readonly ToolCall[]): Map<string, string[]> {
  const ids = new Map<string, string[]>();
  for (const [at, { id }] of calls.entries()) ids.set(id, [...(ids.get(id) ?? []), sent[at]!.id]);
  return ids;
}

const PLAIN: StreamDecoder = { push: (piece) => piece, end: () => '' };

/**
 * The provider's own function calling. Servers without a reasoning parser leave `<think>` at the start of the text, where
 * it is reasoning (docs.vllm.ai, "Reasoning outputs"). Without its end tag, in a complete answer, it is text.
 */
export class NativeProtocol extends Protocol {
  readonly name = 'native';
  override readonly canForceCalls = true;
  override readonly takesFormats = true;
  /** One array of specifications for each list of tools, so that provider code can cache by identity. */
  private readonly specs = new WeakMap<readonly Tool[], readonly ToolSpec[]>();

  /** @param readsThoughts whether `<think>` is reasoning; otherwise it is text */
  constructor(private readonly readsThoughts = true) {
    super();
  }

  describeTools(): string {
    return '';
  }

  encode({ instructions, messages, tools, parameters, toolChoice, responseFormat }: Conversation): ChatRequest {
    const sent = toSentMessages(messages);
    const all: Message[] = instructions === '' ? sent : [{ role: 'system', content: instructions }, ...sent];
    return {
      messages: all,
      ...(tools.length > 0 && { tools: this.toSpecs(tools), ...(toolChoice !== undefined && { toolChoice }) }),
      ...(parameters && { parameters }),
      ...(responseFormat !== undefined && { responseFormat }),
    };
  }

  decode(result: ChatResult): DecodedReply {
    const { content, reasoning = '', toolCalls = [], signedReasoning } = result.message;
    const { text, thoughts } = this.readsThoughts
      ? splitThoughts(content, isAnswer(result))
      : { text: content, thoughts: [] };
    const calls = isCut(result) ? [] : withinLimit(toolCalls).map(withArgumentsText);
    return toDecodedReply(text, joinThoughts(reasoning, thoughts), calls, signedReasoning);
  }

  decodeStream(): StreamDecoder {
    if (!this.readsThoughts) return PLAIN;
    const parser = new ThinkParser();
    return {
      push: (piece) => parser.push(piece),
      end: (reply) => parser.end(reply !== undefined && isAnswer(reply)),
    };
  }

  private toSpecs(tools: readonly Tool[]): readonly ToolSpec[] {
    let specs = this.specs.get(tools);
    if (!specs) this.specs.set(tools, (specs = tools.map(({ definition }) => definition)));
    return specs;
  }
}

/** Whether the reply is a complete answer, which must have a text. */
function isAnswer({ finishReason, message }: ChatResult): boolean {
  return finishReason === 'stop' && !message.toolCalls?.length;
}

/** A model of the application may return arguments as an object, or nothing. */
function withArgumentsText(call: ToolCall): ToolCall {
  const text = toArgumentsText(call.arguments);
  return text === call.arguments ? call : { ...call, arguments: text };
}
