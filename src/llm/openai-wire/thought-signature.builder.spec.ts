import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readStream } from '../../../test/support/fake-llm-stream.js';
import { FakeLlm } from '../../../test/support/fake-llm.js';
import type { ChatModel } from '../chat/chat-model.js';
import type { AssistantMessage, Message } from '../chat/message.types.js';
import { createModelRegistry } from '../model-registry.factory.js';

const registry = createModelRegistry();
const ask: Message = { role: 'user', content: 'add' };
const CALLS = [
  { id: 'a', name: 'add', signature: 'SIG==' },
  { id: 'b', name: 'add' },
];
let llm: FakeLlm;

function modelOf(model: string): ChatModel {
  return registry.create({ provider: 'openai-compatible', model, baseUrl: llm.url, timeoutMs: 60_000 });
}

beforeAll(async () => void (llm = await FakeLlm.start({ strict: 'gemini' })));
beforeEach(() => llm.reset());
afterAll(async () => {
  await registry.close();
  await llm.close();
});

async function signaturesIn(model: string, answer: AssistantMessage): Promise<unknown[]> {
  llm.reply({ text: 'done' });
  const results: Message[] = CALLS.map(({ id, name }) => ({ role: 'tool', toolCallId: id, name, content: '3' }));
  await modelOf(model).generate({ messages: [ask, answer, ...results] });
  const sent = llm.lastRequest.messages[1]!.tool_calls as readonly { extra_content?: unknown }[];
  return sent.map(({ extra_content }) => extra_content);
}

describe("Gemini's thought signatures", () => {
  it.each(['generate', 'stream'] as const)('return to the model that wrote them, from %s', async (how) => {
    llm.reply({ calls: CALLS, model: 'gemini-3-flash-001' });
    const model = modelOf('gemini-3-flash');
    const request = { messages: [ask] };
    const last = how === 'stream' ? (await readStream(model.stream(request))).at(-1) : undefined;
    const { message } = last?.type === 'finish' ? last.result : await model.generate(request);
    expect(message.signedReasoning).toEqual({
      provider: 'google',
      model: 'gemini-3-flash',
      blocks: [{ value: { thought_signature: 'SIG==' }, text: 0, calls: 0 }],
    });
    const own = { google: { thought_signature: 'SIG==' } };
    expect(await signaturesIn('gemini-3-flash', message)).toEqual([own, undefined]);
    const placeholder = { google: { thought_signature: 'skip_thought_signature_validator' } };
    expect(await signaturesIn('gemini-3-pro', message)).toEqual([placeholder, undefined]);
    expect(await signaturesIn('gemini-2.5-flash', message)).toEqual([undefined, undefined]);
    expect(llm.broken).toEqual([]);
  });
});
