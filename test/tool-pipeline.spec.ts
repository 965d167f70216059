import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import { type KeyHolder, keyHolder } from './support/api-keys.js';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { Basket, ShopTools } from './support/shop.tool.js';

const ROOT = keyHolder('root', 'acme', 'admin');
const BOB = keyHolder('bob', 'beta', 'user');

describe('tools of an application behind its API', () => {
  let llm: FakeLlm;
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    llm = await FakeLlm.start();
    jackdaw = await startJackdaw({
      llm,
      tools: [ShopTools, Basket],
      env: { API_KEYS: `${ROOT.entry},${BOB.entry}`, LOG_LEVEL: 'info' },
    });
  });
  afterAll(async () => {
    await jackdaw.stop();
    await llm.close();
  });

  async function resultOf(tool: string, { headers }: KeyHolder): Promise<unknown> {
    llm.reset();
    llm.reply({ calls: [{ name: tool, arguments: {} }] }).reply({ text: 'done' });
    const { body } = await jackdaw.chat({ query: 'go', includeDetails: true }, headers);
    return (body['tool_results'] as unknown as unknown[])[0];
  }

  it('give a request-scoped provider the tenant and the person of the run', async () => {
    expect(await resultOf('whose', ROOT)).toMatchObject({ result: 'acme/root' });
    expect(await resultOf('whose', BOB)).toMatchObject({ result: 'beta/bob' });
  });

  it('are denied by a guard', async () => {
    expect(await resultOf('emptyAll', ROOT)).toMatchObject({ success: true, result: 'emptied' });
    expect(await resultOf('emptyAll', BOB)).toMatchObject({ success: false, error: 'Forbidden resource' });
  });

  it('report progress, log with their run, and leave a long result complete in the journal', async () => {
    llm.reset();
    llm.reply({ calls: [{ name: 'count', arguments: {} }] }).reply({ text: 'done' });
    const stream = await jackdaw.stream({ query: 'go' }, ROOT.headers);
    const events = await stream.all();
    const published = events.filter(({ event }) => event === 'tool.progress');
    expect(published.map(({ id, data }) => [id, data])).toEqual([
      [
        null,
        {
          type: 'tool.progress',
          iteration: 1,
          call_id: expect.anything(),
          tool: 'count',
          progress: 1,
          total: 2,
          message: 'at 1',
        },
      ],
      [null, expect.objectContaining({ progress: 2 })],
    ]);
    const { runId } = stream;
    expect(jackdaw.log).toContainEqual(
      expect.objectContaining({ msg: 'counted', tool: 'count', run_id: runId, shelves: 2 }),
    );
    const completed = events.find(({ event }) => event === 'tool.completed')!.data;
    expect(completed).toMatchObject({
      result: expect.stringMatching(/\[cut: 65536 of 70000 bytes/),
      result_bytes: 70_000,
    });
    const { body } = await jackdaw.get(`/api/runs/${runId}/journal`, ROOT.headers);
    const step = (body['steps'] as unknown as Record<string, unknown>[]).find(({ name }) => name === 'tool:1:1')!;
    expect(step['result']).toMatchObject({ result_bytes: 70_000, whole: 'x'.repeat(70_000) });
    expect(JSON.stringify(llm.requests[1])).toContain('[cut: 65536 of 70000 bytes shown]');
  });
});

describe('docs/tools.md', () => {
  const document = readFileSync('docs/tools.md', 'utf8');

  it('contains the code of these tests', () => {
    const code = readFileSync('test/support/shop.tool.ts', 'utf8').replaceAll('../../src/index.js', 'jackdaw');
    expect(document).toContain(`\`\`\`ts\n${code}\`\`\`\n`);
  });
});
