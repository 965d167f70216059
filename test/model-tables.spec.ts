import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { FakeLlm } from './support/fake-llm.js';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';

const folder = newFolder();
const path = join(folder, 'models.json');
let llm: FakeLlm;
let jackdaw: Jackdaw | undefined;
beforeAll(async () => void (llm = await FakeLlm.start()));
afterEach(async () => {
  await jackdaw?.stop();
  jackdaw = undefined;
  llm.reset();
});
afterAll(async () => {
  await llm.close();
  rmSync(folder, { recursive: true });
});

async function start(model: string, models?: object): Promise<Jackdaw> {
  if (models) writeFileSync(path, JSON.stringify({ models }));
  llm.always({ text: 'fine', usage: [1_000_000, 0] });
  const env = { ...llm.envOf('openai-compatible'), LLM_MODEL: model, ...(models && { LLM_MODELS_FILE: path }) };
  jackdaw = await startJackdaw({ env });
  return jackdaw;
}

async function modelHealth(app: Jackdaw): Promise<unknown> {
  const { body } = await app.get('/api/agent/health');
  return (body['details'] as unknown as { model: unknown }).model;
}

const IMAGE =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABh6FO1AAAAABJRU5ErkJggg==';

it('an unknown model works, and health and the log report the assumptions about it', async () => {
  const app = await start('house-model');
  expect((await app.chat({ query: 'x' })).body['result']).toBe('fine');
  expect(await modelHealth(app)).toMatchObject({
    assumptions: {
      'openai-compatible:house-model': [
        'an unknown context window',
        'no vision',
        'function calling',
        'JSON mode',
        'an effort as given',
      ],
    },
  });
});

it('a model of a table has no assumptions', async () => {
  expect(await modelHealth(await start('gpt-4o'))).not.toHaveProperty('assumptions');
});

it('a file of models states the facts of an unknown model: vision, effort and price', async () => {
  const price = { input: 2, output: 4 };
  const app = await start('house-model', { 'house-*': { vision: true, effort: ['low'] }, 'house-model': { price } });
  const { body } = await app.chat({ query: 'x', images: [{ url: IMAGE }], parameters: { effort: 'max' } });
  expect(body).toMatchObject({ result: 'fine', usage: { cost: 2 } });
  expect(llm.lastRequest['reasoning_effort']).toBe('low');
  expect(await modelHealth(app)).not.toHaveProperty('assumptions');
});

it('a file with an unknown field stops the start, and the error names the file and the path', async () => {
  await expect(start('house-model', { a: { window: 1 } })).rejects.toThrow(
    `${path}: models › a: Unrecognized key: "window"`,
  );
});
