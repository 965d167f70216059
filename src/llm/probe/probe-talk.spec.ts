import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../config/index.js';
import type { ChatModel } from '../chat/chat-model.js';
import type { CallOptions, ChatResult } from '../chat/chat.types.js';
import { ProbeTalk, user } from './probe-talk.js';

const RESULT = { text: 'slow but steady' } as unknown as ChatResult;
const REQUEST = { messages: [user('Hello')] };

function talk(env: Readonly<Record<string, string>>, reply: (signal: AbortSignal) => Promise<ChatResult>): ProbeTalk {
  const model = { generate: (_request: unknown, { signal }: CallOptions) => reply(signal!) } as unknown as ChatModel;
  const { llm } = loadConfig({ env }).config;
  return new ProbeTalk({ create: () => model, changes: () => new Map() }, llm, new AbortController().signal);
}

describe('a model call of the probe', () => {
  it('may take longer than the longest silence', async () => {
    const slow = talk({ LLM_TIMEOUT_MS: '1' }, async (signal) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      signal.throwIfAborted();
      return RESULT;
    });
    expect(await slow.ask(REQUEST)).toBe(RESULT);
  });

  it('ends at the time limit of a whole call', async () => {
    const endless = talk({ LLM_TOTAL_TIMEOUT_MS: '1' }, async (signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      throw signal.reason;
    });
    await expect(endless.ask(REQUEST)).rejects.toThrow('within 1 ms; raise LLM_TOTAL_TIMEOUT_MS');
  });
});
