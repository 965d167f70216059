import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '../src/persistence/index.js';
import { FakeLlm } from './support/fake-llm.js';
import type { FakeReply } from './support/fake-llm.types.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';

const PROVIDERS = ['openai', 'anthropic', 'azure', 'deepseek', 'glm', 'ollama', 'openai-compatible'];
const CANARIES = ['canary-key-one', 'canary-key-two'];

let llm: FakeLlm;
beforeAll(async () => {
  llm = await FakeLlm.start();
});
afterAll(() => llm.close());

/** The key of the last request, in the header of the provider. */
function usedKey(): string {
  const { headers } = llm.envelopes.at(-1)!;
  const sent = headers['x-api-key'] ?? headers['api-key'] ?? headers.authorization;
  return String(sent).replace('Bearer ', '');
}

/** An error text of a provider that repeats the key. */
const said = () => `The key ${usedKey()} (Authorization: Bearer ${usedKey()}) is at fault.`;
const ECHOES: Readonly<Record<string, () => FakeReply>> = {
  'a refused request': () => ({ status: 400, body: { error: { message: said(), param: usedKey() } } }),
  'a page': () => ({ status: 500, body: `<html>${said()}</html>` }),
  'a text': () => ({ status: 502, body: said(), headers: { 'content-type': 'text/plain', 'x-request-id': usedKey() } }),
  'no reply': () => ({ status: 200, body: { error: { message: said(), code: usedKey() } } }),
  'no JSON': () => ({ status: 200, body: `{"${said()}`, headers: { 'content-type': 'application/json' } }),
  'no events': () => ({ events: [said(), { error: { message: said() } }] }),
  'a limit': () => ({ status: 429, body: { error: { message: said() } }, headers: { 'retry-after': '3600' } }),
  'a refused key': () => ({ status: 401, body: { error: { message: said() } } }),
};

describe.each(PROVIDERS)('keys of %s', (provider) => {
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    const name = provider === 'openai' ? 'OPENAI' : 'LLM';
    jackdaw = await startJackdaw({
      env: {
        ...llm.envOf(provider),
        [`${name}_API_KEY`]: '',
        [`${name}_API_KEYS`]: CANARIES.join(','),
        LLM_MODEL: 'some-model',
        LLM_UNSUPPORTED_PARAMETERS: 'drop',
        LOG_LEVEL: 'trace',
      },
    });
  });
  afterAll(() => jackdaw.stop());

  it('are not disclosed in an answer, an event, a log or a table, whatever the provider repeats', async () => {
    llm.reset();
    const heard: string[] = [];
    for (const [what, echo] of Object.entries(ECHOES)) {
      llm.always(echo);
      const stream = await jackdaw.stream({ query: `stream: ${what}` });
      await stream.waitFor('run.failed');
      heard.push((await jackdaw.chat({ query: what })).text, JSON.stringify(stream.events));
    }
    // The limited key is not retried, and the other key is refused permanently.
    expect(llm.envelopes.length).toBeGreaterThan(2 * (Object.keys(ECHOES).length - 2));
    const { text, body } = await jackdaw.get('/api/agent/health');
    expect(body).toMatchObject({ details: { model: { keys: { [provider]: { total: 2 } } } } });
    const database = jackdaw.app.get(Database);
    const tables = await database.query<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'");
    for (const { name } of tables) heard.push(JSON.stringify(await database.query(`SELECT * FROM ${name}`)));
    heard.push(text, (await jackdaw.get('/metrics')).text, JSON.stringify(jackdaw.log));
    for (const canary of CANARIES) expect(heard.filter((one) => one.includes(canary))).toEqual([]);
    expect(heard.join()).toContain('[redacted]');
  });
});
