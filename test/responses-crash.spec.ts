import { expect, it } from 'vitest';
import { ProcessWorld } from './support/process-world.js';
import { brokenRules } from './support/providers/index.js';
import { encryptedContent } from '../src/testing/provider/response-object.mapper.js';
import type { FakeRequest } from './support/fake-llm.types.js';

const world = ProcessWorld.prepare();
const MODEL = 'gpt-5.6-luna';
const step = (name: string, at: number) => ({ id: `of-${at}`, name, arguments: { step: at } });

interface Reasoning {
  readonly id: string;
  readonly encrypted_content: string;
}

/** The reasoning items of the n-th request. */
function reasoningIn(n: number): readonly Reasoning[] {
  const { input } = world.llm.envelopes[n]!.body as { input: readonly (Reasoning & { type: string })[] };
  return input.filter(({ type }) => type === 'reasoning');
}

it('encrypted reasoning survives kill -9, and returns unchanged from another process and in later turns', async () => {
  const { llm } = world;
  const env = { LLM_MODEL: MODEL };
  llm.reply(
    { reasoning: 'one', calls: [step('read_step', 1)] },
    { reasoning: 'two', calls: [step('read_step', 2), step('read_step', 3)] },
    { reasoning: 'three', calls: [step('read_step', 4)] },
    { reasoning: 'four', text: 'all done' },
    { text: 'and further' },
  );
  const first = await world.start({ ...env, BLOCK_AT: 'read_step 4' });
  const stream = await first.stream({ query: 'go', sessionId: 'thoughtful' });
  await first.waitForLine('performing read_step 4');
  await first.kill();
  const second = await world.start(env);
  expect((await second.events(stream.runId)).at(-1)).toMatchObject({ event: 'run.completed' });
  expect((await second.chat({ query: 'more', sessionId: 'thoughtful' })).body).toMatchObject({ result: 'and further' });
  expect(llm.envelopes.map(({ path }) => path)).toEqual(Array.from({ length: 5 }, () => '/v1/responses'));
  const texts = ['one', 'two', 'three', 'four'];
  const ids = reasoningIn(4).map(({ id }) => id);
  const written = texts.map((text, at) => encryptedContent(ids[at]!, MODEL, text));
  for (const n of [0, 1, 2, 3, 4]) {
    expect(reasoningIn(n).map(({ encrypted_content }) => encrypted_content)).toEqual(written.slice(0, n));
    expect(brokenRules('responses', llm.envelopes[n]!.body as unknown as FakeRequest)).toEqual([]);
  }
});
