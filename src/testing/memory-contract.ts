import assert from 'node:assert/strict';
import type { SessionMessage } from '../session/index.js';
import type { RunMemory } from '../session/memory/index.js';
import { assertJson, contractCase, type ContractCase } from './contract.js';

/** Upper limit of the characters of a token in English text. */
const CHARACTERS_PER_TOKEN = 8;
const CALL: readonly SessionMessage[] = [
  { role: 'user', content: 'What is 1 + 2?' },
  { role: 'assistant', content: '', toolCalls: [{ id: 'c1', name: 'add', arguments: '{"a":1,"b":2}' }] },
  { role: 'tool', toolCallId: 'c1', name: 'add', content: '3' },
  { role: 'assistant', content: 'It is 3.' },
];

function turn(n: number): readonly SessionMessage[] {
  return [
    { role: 'user', content: `Question ${n}: ${'lorem ipsum '.repeat(20)}` },
    { role: 'assistant', content: `Answer ${n}: ${'dolor sit amet '.repeat(20)}` },
  ];
}

async function add(memory: RunMemory, ...messages: readonly SessionMessage[]): Promise<void> {
  for (const message of messages) await memory.addMessage(message);
}

/** The rules of a memory of runs. */
export const memoryContract: readonly ContractCase<RunMemory>[] = [
  contractCase('has an empty context before the first message', async (memory) => {
    assertJson(await memory.getContext(1000), []);
  }),

  contractCase('has a context of messages', async (memory) => {
    await add(memory, ...CALL);
    const context = await memory.getContext(10_000);
    assert.ok(context.length > 0);
    for (const { role, content } of context) {
      assert.ok(['system', 'user', 'assistant', 'tool'].includes(role));
      assert.ok(typeof content === 'string' || Array.isArray(content));
    }
  }),

  contractCase('separates no call from its result', async (memory) => {
    await add(memory, ...CALL, ...turn(1));
    for (const maxTokens of [5, 20, 100, 10_000]) {
      const context = await memory.getContext(maxTokens);
      const called = context.flatMap((one) =>
        one.role === 'assistant' ? (one.toolCalls ?? []).map(({ id }) => id) : [],
      );
      const answered = context.flatMap((one) => (one.role === 'tool' ? [one.toolCallId] : []));
      assertJson(answered, called);
    }
  }),

  contractCase('has a context within the limit of tokens', async (memory) => {
    for (let n = 1; n <= 100; n++) await add(memory, ...turn(n));
    const length = (await memory.getContext(1000)).reduce(
      (sum, { content }) => sum + JSON.stringify(content).length,
      0,
    );
    assert.ok(length <= 1000 * CHARACTERS_PER_TOKEN, `${length} characters for 1000 tokens`);
  }),

  contractCase('does not add the question to the context', async (memory) => {
    await add(memory, ...turn(1));
    const question: SessionMessage = { role: 'user', content: 'A question about nothing else: 4711?' };
    const texts = async () => (await memory.getContext(10_000, question)).map(({ content }) => JSON.stringify(content));
    assert.equal(
      (await texts()).some((text) => text.includes('4711')),
      false,
    );
    // The run adds the question itself, after its end.
    assert.equal(
      (await texts()).some((text) => text.includes('4711')),
      false,
    );
  }),
];
