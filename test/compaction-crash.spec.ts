import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { estimateTokens } from '../src/llm/index.js';
import type { FakeReply, FakeRequest } from './support/fake-llm.types.js';
import type { ServerProcess } from './support/process.js';
import { ProcessWorld } from './support/process-world.js';
import { doneIn } from './support/step-script.js';

const world = ProcessWorld.prepare();
const STEPS = 9;
const THOUGHTS = 'I compare this step with the others, and note its nest. '.repeat(30);

const isSummary = (request: FakeRequest) => JSON.stringify(request).includes('You keep the memory of an agent');
const summaries = () => world.llm.requests.filter(isSummary);
const others = () => world.llm.requests.filter((request) => !isSummary(request));

/** Does the steps one after the other; the number of the next one is in the text of the reply. */
function script(request: FakeRequest): FakeReply {
  const usage = [estimateTokens(JSON.stringify([request.messages, request.tools])), 20] as const;
  if (isSummary(request)) return { usage, text: 'Some steps were done.' };
  const texts = JSON.stringify(request.messages).match(/Step \d+ is next/g) ?? [];
  const step = Number(/\d+/.exec(texts.at(-1) ?? '0')?.[0] ?? 0) + 1;
  if (step > STEPS) return { usage, text: 'done' };
  return { usage, text: `${THOUGHTS} Step ${step} is next`, calls: [{ name: 'idempotent_step', arguments: { step } }] };
}

function start(env: Record<string, string> = {}): Promise<ServerProcess> {
  const models = join(world.folder, 'models.json');
  writeFileSync(models, JSON.stringify({ models: { '*': { contextTokens: 5_000 } } }));
  return world.start({ LLM_MODELS_FILE: models, PADDING: '500', ...env });
}

async function finish(runId: string): Promise<void> {
  const second = await start();
  const events = await second.events(runId);
  expect(events.at(-1)).toMatchObject({ event: 'run.completed', data: { result: 'done' } });
  const usage = world.llm.requests.map(({ messages, tools }) => estimateTokens(JSON.stringify([messages, tools])));
  const reported = events.filter(({ event }) => event === 'usage').map(({ data }) => data['prompt_tokens']);
  // The interrupted call is the only one whose usage no process knows.
  expect(usage.length - reported.length).toBe(1);
  const steps = events.filter(({ event }) => event === 'tool.completed');
  expect(steps).toHaveLength(STEPS);
}

const prefixes = (requests: readonly FakeRequest[]) => requests.map(({ messages }) => JSON.stringify(messages));

describe('kill -9 during the compaction of a run', () => {
  it('asks for the summary again if the model was writing it', async () => {
    const hang = Promise.withResolvers<void>();
    world.llm.always((request) => {
      if (isSummary(request) && summaries().length === 1) {
        hang.resolve();
        return { hang: true };
      }
      return script(request);
    });
    const first = await start();
    const { runId } = await first.stream({ query: 'x' });
    await hang.promise;
    await first.kill();
    await finish(runId);
    expect(prefixes(summaries())[1]).toBe(prefixes(summaries())[0]);
  });

  it('uses the recorded summary if the request after it was interrupted', async () => {
    const hang = Promise.withResolvers<void>();
    let isKilled = false;
    world.llm.always((request) => {
      if (!isKilled && summaries().length > 0 && !isSummary(request)) {
        isKilled = true;
        hang.resolve();
        return { hang: true };
      }
      return script(request);
    });
    const first = await start();
    const { runId } = await first.stream({ query: 'x' });
    await hang.promise;
    const before = summaries().length;
    const interrupted = prefixes(others()).at(-1);
    await first.kill();
    const asked = others().length;
    await finish(runId);
    expect(before).toBe(1);
    expect(prefixes(others())[asked]).toBe(interrupted);
    expect(new Set(prefixes(summaries())).size).toBe(summaries().length);
  });

  it('repeats the recorded compactions if a later tool was interrupted', async () => {
    world.llm.always(script);
    const first = await start({ BLOCK_AT: `idempotent_step ${STEPS}` });
    const { runId } = await first.stream({ query: 'x' });
    await first.waitForLine(`performing idempotent_step ${STEPS}`);
    await first.kill();
    const asked = others().length;
    const second = await start();
    const events = await second.events(runId);
    expect(events.at(-1)).toMatchObject({ event: 'run.completed', data: { result: 'done' } });
    expect(doneIn(others()[asked]!)).toBeLessThan(STEPS);
    expect(JSON.stringify(others()[asked]!.tools)).toBe(JSON.stringify(others()[asked - 1]!.tools));
    const { memory_state } = events.at(-1)!.data as { memory_state: { compacted: { results: number } } };
    expect(memory_state.compacted.results).toBeGreaterThan(2);
  });
});
