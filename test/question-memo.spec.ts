import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { callTool } from './support/direct-calls.js';
import { FakeLlm } from './support/fake-llm.js';
import { FlightTools } from './support/flight.tool.js';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { newKey } from './support/private-world.js';
import { callOf, decisionsIn, expectPairs, resultsIn, WaitingRun } from './support/waiting-run.js';

const CALL = callOf('book', { to: 'Oslo' });
const MEMO = 'cuckoo-7';

describe('the memo of a question', () => {
  const folder = newFolder();
  const env = { ENCRYPTION_KEYS: newKey('k1') };
  let llm: FakeLlm;
  let jackdaw: Jackdaw;
  let count = 0;
  let session = '';
  const start = async () => {
    jackdaw = await startJackdaw({ llm, tools: [FlightTools], dataDir: folder, env });
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

  function ask(): Promise<WaitingRun> {
    llm.reply({ text: 'I try.', calls: [CALL] }, { text: 'the end' });
    session = `session-${++count}`;
    return WaitingRun.begin(jackdaw, session);
  }

  async function restarted(run: WaitingRun): Promise<WaitingRun> {
    await jackdaw.stop();
    await start();
    return run.on(jackdaw);
  }

  it('returns with the answer to its own question, also in another process', async () => {
    const first = await restarted(await ask());
    const asked = await first.after('input', { value: 'KL2' });
    expect(asked.at(-1)?.data['requests']).toMatchObject([{ id: 'input:1:1:r2', question: 'Which seat?' }]);
    const second = await restarted(first);
    const events = await second.after('input', { value: '12A' });
    expect(resultsIn(events)).toEqual({ Oslo: `${MEMO}: KL2, seat 12A` });
    await expectPairs(jackdaw, session);
  });

  it('is not disclosed, and is stored encrypted', async () => {
    const run = await ask();
    await run.requests();
    const stream = await (await jackdaw.follow(run.id)).all();
    const journal = (await jackdaw.get(`/api/runs/${run.id}/journal`)).body;
    const steps = journal['steps'] as unknown as { name: string; result: object }[];
    expect(steps.find(({ name }) => name === 'suspend:1:1')?.result).toMatchObject({ id: 'input:1:1', kind: 'input' });
    const shown = [stream, journal, await run.answer(), llm.requests, await jackdaw.messages(session).catch(() => [])];
    expect(JSON.stringify(shown)).not.toContain(MEMO);
    const files = readdirSync(folder).filter((name) => name.includes('.db'));
    const stored = files.map((name) => readFileSync(join(folder, name)).toString('latin1')).join('');
    expect([files.length > 0, stored.includes(MEMO)]).toEqual([true, false]);
    await run.after('cancel');
  });

  it('returns with a denial if the tool accepts denials', async () => {
    const run = await restarted(await ask());
    const events = await run.after('deny', { reason: 'too dear' });
    expect(decisionsIn(events)).toMatchObject([{ request_id: 'input:1:1', decision: 'denied', reason: 'too dear' }]);
    expect(resultsIn(events)).toEqual({ Oslo: `${MEMO} is released: too dear` });
    expect(events.at(-1)?.event).toBe('run.completed');
  });

  it('is not read if the tool accepts no denial: the call has failed', async () => {
    const run = await ask();
    await run.after('input', { value: 'LH1' });
    const events = await run.after('deny', { callId: 'Oslo' });
    expect(resultsIn(events)).toEqual({ Oslo: ['TOOL_DENIED', 'Denied by local.'] });
  });

  it('returns to a tool that was called directly', async () => {
    const { status, body } = await callTool(jackdaw, 'book', { arguments: { to: 'Rome' } });
    expect([status, body['status'], JSON.stringify(body).includes(MEMO)]).toEqual([202, 'waiting', false]);
    const run = await restarted(new WaitingRun(jackdaw, String(body['run_id'])));
    await run.after('input', { value: 'LH1' });
    const events = await (await restarted(run)).after('input', { value: '1B' });
    expect(events.at(-1)).toMatchObject({ event: 'run.completed', data: { output: `${MEMO}: LH1, seat 1B` } });
  });

  it('is in docs/tools.md as it is in this spec', () => {
    const code = readFileSync('test/support/flight.tool.ts', 'utf8').replaceAll('../../src/index.js', 'jackdaw');
    expect(readFileSync('docs/tools.md', 'utf8')).toContain(`\`\`\`ts\n${code}\`\`\`\n`);
  });
});
