import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FakeLlm } from './support/fake-llm.js';
import { type Jackdaw, newFolder, startJackdaw } from './support/jackdaw.js';
import { newClient } from './support/mcp-clients.js';
import { describeDatabases, testServers } from './support/test-databases.js';

/** Names that differ in case, in marks, or only in their script. */
const NAMES = ['poet', 'Poet', 'poét', 'поэт', '诗人:1', 'poète@home.fr'];
const LEGAL = /^[A-Za-z0-9_-]{1,64}$/;

let llm: FakeLlm;
let jackdaw: Jackdaw | undefined;
beforeAll(async () => {
  llm = await FakeLlm.start();
  llm.always({ text: 'ok' });
});
afterEach(async () => {
  await jackdaw?.stop();
  jackdaw = undefined;
});
afterAll(() => llm.close());

describeDatabases('agent names of any script', await testServers(), (created) => {
  it('are compared by their bytes', async () => {
    const agents = NAMES.map((name) => ({ name, model: { provider: 'openai' } }));
    jackdaw = await startJackdaw({ llm, env: { DATABASE_URL: created().url }, options: { agents } });
    for (const agent of NAMES) {
      const { body } = await jackdaw.chat({ query: 'x', agent });
      expect(body).toMatchObject({ result: 'ok' });
      const run = await jackdaw.get(`/api/runs/${String(body['run_id'])}`);
      expect(run.body).toMatchObject({ agent });
    }
    for (const name of NAMES) {
      const { body } = await jackdaw.get(`/api/runs?agent=${encodeURIComponent(name)}`);
      expect((body['runs'] as unknown as { agent: string }[]).map(({ agent }) => agent)).toEqual([name]);
      expect((await jackdaw.get(`/api/agents/${encodeURIComponent(name)}`)).body).toMatchObject({ name });
    }
    expect((await jackdaw.chat({ query: 'x', agent: 'POET' })).body).toMatchObject({ code: 'AGENT_NOT_FOUND' });
  });
});

describe('agent names of any script', () => {
  it('are legal tool names for MCP clients', async () => {
    const agents = NAMES.map((name) => ({ name, description: `Agent ${name}.`, model: { provider: 'openai' } }));
    jackdaw = await startJackdaw({ llm, env: { BUILTIN_TOOLS: 'none' }, options: { agents } });
    const client = await newClient(jackdaw.url);
    try {
      const { tools } = await client.listTools();
      expect(tools).toHaveLength(NAMES.length);
      expect(new Set(tools.map(({ name }) => name)).size).toBe(NAMES.length);
      for (const { name } of tools) expect(name).toMatch(LEGAL);
      const poet = tools.find(({ description }) => description?.includes('поэт'))!;
      const { content } = await client.callTool({ name: poet.name, arguments: { message: 'x' } });
      expect(content).toEqual([{ type: 'text', text: 'ok' }]);
    } finally {
      await client.close();
    }
  });

  it('come from files and from AGENT_NAME', async () => {
    const folder = newFolder();
    mkdirSync(join(folder, 'agents'));
    writeFileSync(
      join(folder, 'agents', 'poet.xml'),
      '<agent name="诗人" extends="помощник"><prompt>写诗。</prompt></agent>',
    );
    jackdaw = await startJackdaw({
      llm,
      env: { AGENT_NAME: 'помощник' },
      options: { agentsDir: join(folder, 'agents') },
    });
    expect((await jackdaw.chat({ query: 'x', agent: 'помощник' })).body).toMatchObject({ result: 'ok' });
    expect((await jackdaw.chat({ query: 'x', agent: '诗人' })).body).toMatchObject({ result: 'ok' });
    expect(llm.lastRequest.messages[0]).toMatchObject({ role: 'system', content: expect.stringContaining('写诗。') });
  });
});
