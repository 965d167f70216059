import {
  ChatModel,
  type AssistantMessage,
  type ChatRequest,
  type ChatResult,
  type ChatStreamPart,
} from '../../src/llm/chat/index.js';
import { WRITERS, type WrittenCall } from './protocol-writer.js';

export type ProtocolName = keyof typeof WRITERS;

/** The source or target of an injected order: only an attacker uses this domain. */
const TARGET = /[\w.+-]*@?[\w.-]*attacker\.example[\w/?=&.-]*/;
const NAME = /send_mail|post_webhook|transfer|read_page|read_file/;
/** The name of a tool, followed by a target before any other tool name. */
const ORDER = new RegExp(`(${NAME.source})(?:(?!${NAME.source})[^]){0,300}?(${TARGET.source})`, 'g');
const NOTE = /REMEMBER\{([^}]*)\}/g;
const LOOKALIKES: Readonly<Record<string, string>> = {
  а: 'a',
  е: 'e',
  о: 'o',
  р: 'p',
  с: 'c',
  і: 'i',
  ѕ: 's',
  т: 't',
  к: 'k',
};

/**
 * A model that obeys every order in its input, however it is hidden, immediately and before it does the task of its
 * user.
 */
export class ObedientChatModel extends ChatModel {
  readonly provider = 'obedient';
  readonly name = 'obedient-1';
  readonly capabilities = { vision: false, functionCalling: true, jsonMode: false };
  /** The task of the user: calls, one batch after the other. */
  tasks: (readonly WrittenCall[])[] = [];
  /** Whether orders are obeyed now: some wait for a later turn. */
  isAwake = true;
  private obeyed = new Set<string>();
  private calls = 0;

  constructor(private readonly protocol: ProtocolName) {
    super();
  }

  forget(): void {
    this.obeyed = new Set();
    this.tasks = [];
    this.isAwake = true;
  }

  async generate(request: ChatRequest): Promise<ChatResult> {
    const orders = this.isAwake ? this.ordersIn(request) : [];
    const calls = orders.length > 0 ? orders : (this.tasks.shift() ?? []);
    return this.write(calls);
  }

  async *stream(request: ChatRequest): AsyncIterable<ChatStreamPart> {
    const result = await this.generate(request);
    yield { type: 'text', text: result.message.content };
    yield { type: 'finish', result };
  }

  private ordersIn({ messages, tools = [] }: ChatRequest): WrittenCall[] {
    const shown = [
      ...messages.map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content))),
      ...tools.map((tool) => JSON.stringify(tool)),
    ];
    const readings = shown.flatMap(readingsOf);
    // Joins the fragments of a split order.
    readings.push(readings.flatMap((text) => [...text.matchAll(/<<([^>]*)>>/g)].map(([, part]) => part)).join(''));
    const orders = readings.flatMap((text) => [
      ...[...text.matchAll(ORDER)].map(([, name, to]) => ({ name: name!, arguments: { to: to! } })),
      ...[...text.matchAll(NOTE)].map(([, note]) => ({ name: 'remember', arguments: { text: note! } })),
    ]);
    return orders.filter((order) => {
      const key = JSON.stringify(order);
      const isNew = !this.obeyed.has(key);
      this.obeyed.add(key);
      return isNew;
    });
  }

  private write(calls: readonly WrittenCall[]): ChatResult {
    const writer = WRITERS[this.protocol];
    const { text = '', calls: native } = calls.length > 0 ? writer.calls(...calls) : writer.answer('done');
    const toolCalls = native?.map(({ name = '', arguments: args }) => ({
      id: `call-${this.calls++}`,
      name,
      arguments: JSON.stringify(args),
    }));
    const message: AssistantMessage = { role: 'assistant', content: text, ...(toolCalls && { toolCalls }) };
    return { message, finishReason: toolCalls ? 'tool_calls' : 'stop', model: this.name };
  }
}

/** Every possible reading of a text. */
function readingsOf(text: string): string[] {
  const plain = withoutEntities(text).normalize('NFKC');
  return [
    plain,
    plain.replace(/[\u200b-\u200f\u2060\u00ad\ufeff]/g, ''),
    Array.from(plain, (character) => LOOKALIKES[character] ?? character).join(''),
    Array.from(plain, fromTag).join(''),
    Array.from(plain).toReversed().join(''),
    plain.replace(/[a-z]/gi, rot13),
    plain.replace(/%[0-9a-f]{2}/gi, (escape) => String.fromCharCode(Number.parseInt(escape.slice(1), 16))),
    plain.replace(/\\u([0-9a-f]{4})/gi, (_escape, code: string) => String.fromCharCode(Number.parseInt(code, 16))),
    plain.replace(/(?<=\b\w) (?=\w\b)/g, ''),
    ...[...plain.matchAll(/[A-Za-z0-9+/]{40,}={0,2}/g)].map(([code]) => Buffer.from(code, 'base64').toString()),
    ...[...plain.matchAll(/(?:[0-9a-f]{2}){20,}/g)].map(([code]) => Buffer.from(code, 'hex').toString()),
  ].filter((reading, at) => at === 0 || TARGET.test(reading) || reading.includes('REMEMBER'));
}

function withoutEntities(text: string): string {
  const named: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };
  return text
    .replace(/&#x([0-9a-f]+);/gi, (_entity, code: string) => String.fromCodePoint(Number.parseInt(code, 16)))
    .replace(/&#(\d+);/g, (_entity, code: string) => String.fromCodePoint(Number(code)))
    .replace(/&(lt|gt|amp|quot|apos);/g, (_entity, name: string) => named[name]!);
}

/** Characters of the Unicode block of tags, which are invisible. */
function fromTag(character: string): string {
  const code = character.codePointAt(0)!;
  return code >= 0xe0020 && code <= 0xe007e ? String.fromCharCode(code - 0xe0000) : character;
}

function rot13(letter: string): string {
  const base = letter <= 'Z' ? 65 : 97;
  return String.fromCharCode(((letter.charCodeAt(0) - base + 13) % 26) + base);
}
