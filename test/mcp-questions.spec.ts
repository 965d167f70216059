import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { rmSync } from 'node:fs';
import { FakeLlm } from './support/fake-llm.js';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { listed, scripted, untilStatus } from './support/mcp/scripted-servers.js';
import { callOf, resultsIn, WaitingRun } from './support/waiting-run.js';

const TOOLS = [listed('ask'), listed('sample')];
const SERVERS = [
  scripted('old', { tools: TOOLS }),
  scripted('reading', { tools: TOOLS }, { effects: { ask: 'read' } }),
  scripted('modern', { tools: TOOLS, modern: true }),
];

describe('a server that asks a user', () => {
  const folder = newFolder();
  let llm: FakeLlm;
  let jackdaw: Jackdaw;
  let count = 0;
  const start = async () => {
    jackdaw = await startJackdaw({ llm, dataDir: folder, options: { mcpServers: SERVERS } });
    await Promise.all(SERVERS.map(({ name }) => untilStatus(jackdaw, name)));
  };
  beforeAll(async () => {
    llm = await FakeLlm.start();
    await start();
  });
  afterEach(() => llm.reset());
  afterAll(async () => {
    await jackdaw.stop();
    await llm.close();
    rmSync(folder, { recursive: true });
  });

  async function ask(tool: string): Promise<WaitingRun> {
    llm.reply({ text: '', calls: [{ ...callOf(tool, {}), id: 'c' }] }, { text: 'the end' });
    return WaitingRun.begin(jackdaw, `session-${++count}`);
  }
  async function restarted(run: WaitingRun): Promise<WaitingRun> {
    await jackdaw.stop();
    await start();
    return run.on(jackdaw);
  }

  it('is answered in the middle of a call, in protocols before 2026', async () => {
    const run = await ask('old__ask');
    expect(await run.requests()).toMatchObject([
      { kind: 'input', question: 'MCP server "old" asks: Which colour?', schema: { required: ['colour'] } },
    ]);
    expect(resultsIn(await run.after('input', { value: { colour: 'red' } }))).toEqual({ c: 'accept {"colour":"red"}' });
  });

  it('is informed when the user declines', async () => {
    expect(resultsIn(await (await ask('old__ask')).after('deny', {}))).toEqual({ c: 'decline null' });
  });

  it('is not asked again when the process that held the call is gone: a person settles the outcome', async () => {
    const run = await restarted(await ask('old__ask'));
    const events = await run.after('input', { value: { colour: 'red' } });
    expect(events.at(-1)?.data['requests']).toMatchObject([
      { kind: 'outcome_unknown', reason: expect.stringContaining('the process that held the call open has ended') },
    ]);
    const settled = await run.after('settle', { outcome: 'succeeded', result: 'it was red' });
    expect(resultsIn(settled)).toEqual({ c: 'it was red' });
  });

  it('is called again in that case if its tool may be repeated', async () => {
    const run = await restarted(await ask('reading__ask'));
    const events = await run.after('input', { value: { colour: 'red' } });
    expect(events.at(-1)?.data['requests']).toMatchObject([{ kind: 'input', id: 'input:1:1:r2' }]);
    expect(resultsIn(await run.after('input', { value: { colour: 'blue' } }))).toEqual({
      c: 'accept {"colour":"blue"}',
    });
  });

  it('is answered in protocol 2026 by another process, all its questions at once', async () => {
    const run = await restarted(await ask('modern__ask'));
    const [request] = await run.requests();
    expect(request).toMatchObject({
      question: 'MCP server "modern" asks: Which colour?\nMCP server "modern" asks: Which size?',
      schema: { required: ['c', 's'] },
    });
    const events = await run.after('input', { value: { c: { colour: 'red' }, s: { size: 3 } } });
    const answers = {
      c: { action: 'accept', content: { colour: 'red' } },
      s: { action: 'accept', content: { size: 3 } },
    };
    expect(resultsIn(events)).toEqual({ c: `state-of-the-server ${JSON.stringify(answers)}` });
  });

  it('is informed that Jackdaw provides no model replies', async () => {
    llm.reply({ text: '', calls: [{ ...callOf('modern__sample', {}), id: 'c' }] }, { text: 'the end' });
    const { body } = await jackdaw.chat({ query: 'go', includeDetails: true });
    expect(JSON.stringify(body)).toContain('requires a model reply for this call, which Jackdaw does not provide');
  });
});
