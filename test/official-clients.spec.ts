import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { FakeLlm } from './support/fake-llm.js';
import type { FakeReply, FakeRequest } from './support/fake-llm.types.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { WaitingTools } from './support/waiting.tool.js';

const FOLDER = 'test/clients';
const isInstalled = existsSync(`${FOLDER}/node_modules/ai`);
const AI_SDK = [
  '@ai-sdk/openai responses',
  '@ai-sdk/openai chat',
  '@ai-sdk/openai-compatible',
  '@ai-sdk/open-responses',
];
const LANGCHAIN = ['@langchain/openai chat', '@langchain/openai responses'];
const AGENTS = ['@openai/agents OpenAIChatCompletionsModel', '@openai/agents OpenAIResponsesModel'];

/** Requests of the model for each failing client. */
const failing = new Map<string, number>();

/** Answers by the question of the user, and after a tool by its result. */
function reply({ messages, ...request }: FakeRequest): FakeReply {
  const last = messages.at(-1)!;
  if (last.role === 'tool') return { text: String(last.content) };
  const text = JSON.stringify(last.content);
  const failed = /fail ([^"]+)"/.exec(text)?.[1];
  if (failed !== undefined) {
    failing.set(failed, (failing.get(failed) ?? 0) + 1);
    return { status: 503, body: { error: { message: 'busy' } } };
  }
  if (text.includes('weather')) return { calls: [{ name: 'weather', arguments: { city: 'Oslo' } }] };
  if (text.includes('look')) return { calls: [{ name: 'look', arguments: { text: 'x' } }] };
  if (text.includes('image')) return { text: `image ${text.includes('data:image/png')}` };
  if (text.includes('schema')) return { text: '{"city":"Oslo"}' };
  return { text: `hi ${Object.keys(request).length > 0}` };
}

describe.skipIf(!isInstalled && !process.env['CI'])('official clients (npm ci --prefix test/clients)', () => {
  let llm: FakeLlm;
  let jackdaw: Jackdaw;
  let outcomes: Record<string, Record<string, string>>;

  beforeAll(async () => {
    llm = await FakeLlm.start();
    llm.always(reply);
    jackdaw = await startJackdaw({ llm, tools: [new WaitingTools()], env: { LLM_MAX_ATTEMPTS: '1' } });
    const program = [`${FOLDER}/official.mjs`, `${jackdaw.url}/v1`];
    const { stdout } = await promisify(execFile)(process.execPath, program, { maxBuffer: 10_000_000 });
    outcomes = JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as typeof outcomes;
  });
  afterAll(async () => {
    await jackdaw.stop();
    await llm.close();
  });

  it.each(AI_SDK)('%s: text, streams, tools, images, schemas and errors', (client) => {
    expect(outcomes[client]).toEqual({
      text: 'hi true',
      stream: 'hi true stop 15',
      'client tool': 'rain in Oslo 2',
      'client tool, streamed': 'rain in Oslo 2',
      'server tool': 'seen x',
      image: 'image true',
      schema: 'Oslo',
      error: expect.stringMatching(/busy|unavailable|Bad Gateway/i),
    });
    // The client is configured for one retry.
    expect(failing.get(client)).toBe(2);
  });

  it.each(LANGCHAIN)('%s: text, streams, tools and errors', (client) => {
    expect(outcomes[client]).toEqual({
      text: 'hi true',
      stream: 'hi true',
      'client tool': 'rain in Oslo',
      'server tool': 'seen x',
      error: expect.stringMatching(/busy|unavailable/i),
    });
    expect(failing.get(client)).toBe(2);
  });

  it.each(AGENTS)('%s: tools', (client) => {
    expect(outcomes[client]).toEqual({ 'client tool': 'rain in Oslo', 'client tool, streamed': 'rain in Oslo' });
  });
});
