import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { FactMemory, ToolRegistry } from '../src/index.js';
import { FakeLlm } from './support/fake-llm.js';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';

const KEYS = { ann: 'key-of-ann-1', amy: 'key-of-amy-2', bob: 'key-of-bob-3' };
type User = keyof typeof KEYS;
const bearer = (name: User) => ({ authorization: `Bearer ${KEYS[name]}` });
const entry = (name: User, tenant: string, id: string = name) =>
  `${id}:${tenant}:user:${createHash('sha256').update(KEYS[name]).digest('hex')}`;
/** Ann and Amy share a tenant; Bob is a user `ann` of another tenant. */
const API_KEYS = [entry('ann', 'a'), entry('amy', 'a'), entry('bob', 'b', 'ann')].join(',');

const FACT = 'Ann likes green tea, 绿茶.';

describe('an agent with a long-term memory', () => {
  let llm: FakeLlm;
  let dataDir: string;
  let jackdaw: Jackdaw;
  const start = async (env: Record<string, string> = {}) => {
    jackdaw = await startJackdaw({ llm, dataDir, env: { API_KEYS, LONG_TERM_MEMORY: 'on', ...env } });
  };
  beforeAll(async () => void (llm = await FakeLlm.start()));
  beforeEach(() => void (dataDir = newFolder()));
  afterEach(async () => {
    await jackdaw.stop();
    llm.reset();
    rmSync(dataDir, { recursive: true });
  });
  afterAll(() => llm.close());

  /** Executes one tool call of the model and returns the result that the model receives. */
  async function call(name: string, args: unknown, user: User, sessionId?: string): Promise<string> {
    llm.reply({ calls: [{ name, arguments: args as Record<string, unknown> }] }).reply({ text: 'done' });
    const { status } = await jackdaw.chat({ query: 'continue', ...(sessionId && { sessionId }) }, bearer(user));
    expect(status).toBe(200);
    return String(llm.lastRequest.messages.at(-1)!.content);
  }

  const texts = (result: string) => (JSON.parse(result) as { facts: { text: string }[] }).facts.map(({ text }) => text);

  it('recalls facts in another session and after a restart, for their user alone', async () => {
    await start();
    expect(await call('remember', { text: FACT }, 'ann', 'first')).toBe('Remembered.');
    await jackdaw.stop();
    await start();
    const result = await call('recall', { query: 'Which tea?' }, 'ann', 'second');
    expect(JSON.parse(result)).toEqual({
      facts: [{ text: FACT, remembered_at: expect.stringMatching(/^\d{4}-.*Z$/) }],
    });
    expect(texts(await call('recall', { query: '绿茶' }, 'ann'))).toEqual([FACT]);
    for (const user of ['amy', 'bob'] as const) {
      expect(texts(await call('recall', { query: FACT }, user))).toEqual([]);
      expect(await call('remember', { text: FACT }, user)).toBe('Remembered.');
      expect(texts(await call('recall', { query: FACT }, user))).toEqual([FACT]);
    }
  });

  it('sends the model the reason for a refused call', async () => {
    await start();
    expect(await call('remember', { text: ' \n' }, 'ann')).toBe(
      'Error: The text to remember is blank: say something in it.',
    );
    expect(await call('remember', { text: 'x'.repeat(4001) }, 'ann')).toMatch(/^Error: .*4000/);
    expect(await call('recall', { query: '' }, 'ann')).toMatch(/^Error: The query is blank/);
    expect(await call('recall', { query: '" OR 1=1; --', limit: 21 }, 'ann')).toMatch(/^Error: .*20/);
    expect(texts(await call('recall', { query: '" OR 1=1; -- *' }, 'ann'))).toEqual([]);
  });

  it('has its tools only if the configuration enables them', async () => {
    await start({ LONG_TERM_MEMORY: 'off' });
    llm.reply({ text: 'hello' });
    await jackdaw.chat({ query: 'hello' }, bearer('ann'));
    const names = llm.lastRequest.tools!.map((tool) => tool.function.name);
    expect(names).not.toContain('recall');
    expect(names).toContain('calculator');
    await jackdaw.stop();
    await start();
    llm.reply({ text: 'hello' });
    await jackdaw.chat({ query: 'hello' }, bearer('ann'));
    expect(llm.lastRequest.tools!.map((tool) => tool.function.name)).toEqual(
      expect.arrayContaining([...names, 'recall', 'remember']),
    );
  });

  it('recalls by meaning with an embedding model, and by words while that model fails', async () => {
    llm.embeddings.mean('green', 'verdant');
    await start({ EMBEDDING_MODEL: 'embed-1' });
    await call('remember', { text: 'Ann has a dog.' }, 'ann');
    await call('remember', { text: FACT }, 'ann');
    expect(texts(await call('recall', { query: 'verdant', limit: 1 }, 'ann'))).toEqual([FACT]);
    expect(texts(await call('recall', { query: 'verdant' }, 'amy'))).toEqual([]);
    llm.embeddings.always({ status: 503, body: {} });
    expect(await call('remember', { text: 'Ann lives in Oslo.' }, 'ann')).toBe('Remembered.');
    expect(texts(await call('recall', { query: 'verdant' }, 'ann'))).toEqual([]);
    expect(texts(await call('recall', { query: 'oslo' }, 'ann'))).toEqual(['Ann lives in Oslo.']);
  });
});

describe('a provider without embeddings', () => {
  it('fails the start that configures an embedding model', async () => {
    await expect(startJackdaw({ env: { EMBEDDING_MODEL: 'embed-1' } })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('"offline" has no embeddings'),
    });
  });
});

describe('a host application', () => {
  it('has the memory without the tools, and the tools only if it enables them', async () => {
    for (const longTermMemory of [undefined, true]) {
      const jackdaw = await startJackdaw({ options: { ...(longTermMemory && { longTermMemory }) } });
      const memory = jackdaw.app.get(FactMemory, { strict: false });
      const owner = { tenant: 'a', user: 'ann' };
      await memory.remember(owner, FACT);
      expect(await memory.list(owner)).toMatchObject([{ text: FACT }]);
      expect(jackdaw.app.get(ToolRegistry, { strict: false }).has('recall')).toBe(longTermMemory === true);
      await jackdaw.stop();
    }
  });
});
