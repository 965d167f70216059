import { getEventListeners } from 'node:events';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readStream } from '../../../test/support/fake-llm-stream.js';
import { FakeLlm } from '../../../test/support/fake-llm.js';
import type { ChatModel } from '../chat/chat-model.js';
import type { ChatRequest } from '../chat/chat.types.js';
import { createModelRegistry } from '../model-registry.factory.js';

const registry = createModelRegistry();
const ask: ChatRequest = { messages: [{ role: 'user', content: 'Hello' }] };
/** A limit on silence that a request and the start of its reply do not exceed, on a slow machine either. */
const SILENCE_MS = 1000;
let llm: FakeLlm;

beforeAll(async () => void (llm = await FakeLlm.start()));
beforeEach(() => llm.reset());
afterAll(async () => {
  await registry.close();
  await llm.close();
});

function modelWith(timeoutMs: number): ChatModel {
  return registry.create({ provider: 'ollama', model: 'm-1', baseUrl: llm.url, timeoutMs });
}

async function readAll(model: ChatModel, signal?: AbortSignal): Promise<void> {
  await readStream(model.stream(ask, { signal }));
}

describe('silence', () => {
  it('aborts the call before the reply, and closes its connection', async () => {
    llm.always({ hang: true });
    const expected = { code: 'MODEL_TIMEOUT', isRetryable: true };
    await expect(modelWith(SILENCE_MS).generate(ask)).rejects.toMatchObject(expected);
    await expect(readAll(modelWith(SILENCE_MS))).rejects.toMatchObject(expected);
    await llm.waitForAbort(2);
  });

  it('aborts a stream after the received parts', async () => {
    llm.reply({ text: 'one two three', stallAfter: 3 });
    const seen: string[] = [];
    const reading = (async () => {
      for await (const part of modelWith(SILENCE_MS).stream(ask)) if (part.type === 'text') seen.push(part.text);
    })();
    await expect(reading).rejects.toMatchObject({ code: 'MODEL_TIMEOUT' });
    expect(seen).toEqual(['one', ' two']);
    await llm.waitForAbort();
  });

  it('does not affect the reply after the finish reason', async () => {
    llm.reply({ text: 'one', stallAfter: 3 });
    const parts = await readStream(modelWith(SILENCE_MS).stream(ask));
    expect(parts.at(-1)).toMatchObject({ type: 'finish', result: { message: { content: 'one' } } });
  });
});

describe('an interval between parts', () => {
  const paced = (more: object = {}) =>
    registry.create({
      provider: 'ollama',
      model: 'm-1',
      baseUrl: llm.url,
      timeoutMs: SILENCE_MS,
      intervalMs: 60_000,
      ...more,
    });

  it('passes the first part on at once and joins those after it, until the reply ends', async () => {
    llm.reply({ text: 'one two three four five six' });
    const parts = await readStream(paced().stream(ask));
    const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
    expect(texts.join('')).toBe('one two three four five six');
    expect(texts.length).toBeLessThanOrEqual(2);
  });

  it('ends with the error of a stream, after the received parts', async () => {
    llm.reply({ text: 'one two three', stallAfter: 3 });
    const seen: string[] = [];
    const reading = (async () => {
      for await (const part of paced().stream(ask)) if (part.type === 'text') seen.push(part.text);
    })();
    await expect(reading).rejects.toMatchObject({ code: 'MODEL_TIMEOUT' });
    expect(seen.join('')).toBe('one two');
    await llm.waitForAbort();
  });

  it('does not delay an abort', async () => {
    llm.reply({ text: 'one two three', stallAfter: 3 });
    const stop = new AbortController();
    const stream = paced({ timeoutMs: 60_000 }).stream(ask, { signal: stop.signal });
    const parts = stream[Symbol.asyncIterator]();
    await parts.next();
    setImmediate(() => stop.abort(new Error('stopped')));
    await expect(parts.next().then(() => parts.next())).rejects.toThrow('stopped');
  });
});

describe('abort', () => {
  it('prevents the request if it precedes the call', async () => {
    const reason = new Error('not wanted');
    const options = { signal: AbortSignal.abort(reason) };
    await expect(modelWith(5_000).generate(ask, options)).rejects.toBe(reason);
    await expect(readAll(modelWith(5_000), options.signal)).rejects.toBe(reason);
    expect(llm.requests).toHaveLength(0);
  });

  it.each(['generate', 'stream'] as const)(
    'rejects with the reason during %s, and closes the connection',
    async (verb) => {
      llm.reply({ hang: true });
      const controller = new AbortController();
      const { signal } = controller;
      const model = modelWith(5_000);
      const call = verb === 'generate' ? model.generate(ask, { signal }) : readAll(model, signal);
      const outcome = call.catch((error: unknown) => error);
      await llm.waitForRequest();
      controller.abort('cancelled by the user');
      expect(await outcome).toBe('cancelled by the user');
      await llm.waitForAbort();
      expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    },
  );

  it('rejects with the reason between two chunks', async () => {
    llm.reply({ text: 'one two three', stallAfter: 2 });
    const controller = new AbortController();
    const reading = (async () => {
      for await (const part of modelWith(5_000).stream(ask, controller)) if (part.type === 'text') controller.abort();
    })();
    const thrown = await reading.catch((error: unknown) => error);
    expect(thrown).toBe(controller.signal.reason);
    await llm.waitForAbort();
  });

  it('leaves no listener on a long-lived signal', async () => {
    llm.always({ text: 'ok then' });
    const { signal } = new AbortController();
    const model = modelWith(5_000);
    await model.generate(ask, { signal });
    await readAll(model, signal);
    llm.reply({ status: 500 });
    await expect(model.generate(ask, { signal })).rejects.toMatchObject({ code: 'MODEL_UNAVAILABLE' });
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});

it('applies backpressure to the provider if the reader is slow, and loses no data', async () => {
  const piece = 'x'.repeat(64 * 1024);
  const events = Array.from({ length: 64 }, () => ({ choices: [{ delta: { content: piece } }] }));
  llm.reply({ events: [...events, { choices: [{ delta: {}, finish_reason: 'stop' }] }, '[DONE]'] });
  let length = 0;
  for await (const part of modelWith(5_000).stream(ask)) {
    if (part.type === 'text') length += part.text.length;
    await new Promise(setImmediate);
  }
  expect(length).toBe(64 * piece.length);
});
