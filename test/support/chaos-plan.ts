import * as fc from 'fast-check';
import type { FakeReply, FakeRequest } from './fake-llm.types.js';

/** The tools of chaos-tools.mjs. */
export type ToolName = 'read' | 'idempotent' | 'once' | 'approved' | 'asking' | 'known';

interface PlannedCall {
  readonly tool: ToolName;
  /** Duration before and after its effect, in ms. */
  readonly before: number;
  readonly after: number;
}

/**
 * The script of the model for one message: the calls of each reply, then its answer. The message itself contains it.
 */
export interface ChatPlan {
  readonly calls: readonly (readonly PlannedCall[])[];
  /** Duration of each reply of the model, in ms. */
  readonly think: number;
}

/** The script of a client: one or two chats in a session. */
export interface Conversation {
  readonly how: 'chat' | 'stream' | 'background';
  readonly session: 'named' | 'new';
  readonly chats: readonly ChatPlan[];
  /** Whether the chats are sent together, or each after the answer to the one before. */
  readonly atOnce: boolean;
  /** Whether calls that need approval get it. */
  readonly approves: boolean;
  /** Cancels after this number of model replies, if it streams. */
  readonly cancelAfter: number | null;
}

const call = fc.record<PlannedCall>({
  tool: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom<ToolName>('once') },
    { weight: 4, arbitrary: fc.constantFrom<ToolName>('read', 'idempotent') },
    { weight: 3, arbitrary: fc.constantFrom<ToolName>('known', 'approved', 'asking') },
  ),
  before: fc.integer({ min: 0, max: 6 }),
  after: fc.integer({ min: 0, max: 6 }),
});
const chat = fc.record<ChatPlan>({
  calls: fc.array(fc.array(call, { minLength: 1, maxLength: 3 }), { maxLength: 3, size: 'max' }),
  think: fc.integer({ min: 0, max: 12 }),
});
const conversation = fc.record<Conversation>({
  how: fc.constantFrom('chat', 'stream', 'stream', 'background'),
  session: fc.constantFrom('named', 'named', 'new'),
  chats: fc.array(chat, { minLength: 1, maxLength: 2, size: 'max' }),
  atOnce: fc.boolean(),
  approves: fc.integer({ min: 0, max: 3 }).map((n) => n > 0),
  cancelAfter: fc.option(fc.integer({ min: 1, max: 3 }), { freq: 12 }),
});

export function conversations(count: number, seed: number): Conversation[] {
  return fc.sample(conversation, { seed, numRuns: count });
}

interface Script extends ChatPlan {
  readonly id: string;
}

/** The message with the script of the model. @param id names it, and all its calls, uniquely in the whole test */
export function toQuery(id: string, { calls, think }: ChatPlan): string {
  return JSON.stringify({ id, calls, think } satisfies Script);
}

/** The final answer of the model. */
export function answerTo(query: string): string {
  return `answer ${(JSON.parse(query) as Script).id}`;
}

/** The model: it reads its script and its progress from the conversation. */
export function followScript({ messages }: FakeRequest): FakeReply {
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  const { id, calls, think } = JSON.parse(String(messages[asked]?.content)) as Script;
  const done = messages.slice(asked).filter(({ role }) => role === 'assistant').length;
  // A reply takes time, so that a process can die meanwhile.
  const gate = new Promise((resolve) => setTimeout(resolve, think));
  const next = calls[done];
  if (!next) return { text: `answer ${id}`, gate };
  return {
    gate,
    calls: next.map(({ tool, ...times }, i) => ({
      name: tool,
      id: `call_${id}_${done + 1}_${i + 1}`,
      arguments: { id: `${id}/${done + 1}/${i + 1}`, ...times },
    })),
  };
}
