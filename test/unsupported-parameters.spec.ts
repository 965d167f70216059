import { afterAll, beforeAll, expect, it } from 'vitest';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';

let llm: FakeLlm;
let jackdaw: Jackdaw;
beforeAll(async () => {
  llm = await FakeLlm.start();
  const env = { LLM_TEMPERATURE: '0.5', LLM_SEED: '7', LLM_UNSUPPORTED_PARAMETERS: 'drop', LOG_LEVEL: 'warn' };
  jackdaw = await startJackdaw({ llm, env });
});
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
});

it('unsupported parameters are dropped with one warning if so configured, and all others are sent', async () => {
  llm.always({ text: 'ok' });
  for (let n = 0; n < 2; n++) await jackdaw.chat({ query: 'x', parameters: { temperature: 1, topP: 1, maxTokens: 9 } });
  expect(llm.lastRequest).toMatchObject({ seed: 7, max_completion_tokens: 9 });
  for (const name of ['temperature', 'top_p']) expect(llm.lastRequest[name]).toBeUndefined();
  const warnings = jackdaw.log.map(({ msg }) => String(msg)).filter((line) => line.includes(' takes no '));
  expect(warnings).toEqual([
    expect.stringContaining('the model gpt-5.6-luna of openai takes no temperature'),
    expect.stringContaining('the model gpt-5.6-luna of openai takes no topP'),
  ]);
});
