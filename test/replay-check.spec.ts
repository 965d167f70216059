import { describe, expect, it } from 'vitest';
import { parseExportedRun } from '../src/run/replay/index.js';
import { callOf, ReplayWorld, SHIPPING } from './support/replay-world.js';

const world = ReplayWorld.prepare();

describe('a replay check of the same code', () => {
  it('finds no difference in a run with calls, in another application', async () => {
    expect(await world.changed({})).toMatchObject({ status: 'same', agent: 'support' });
    expect(world.shipped).toEqual(['o-1']);
  });

  it('finds none in the second turn of a session, whose first turn is in the export', async () => {
    world.llm.reply({ text: 'Yes.' }, ...SHIPPING);
    await world.source.chat({ query: 'Are you there?', agent: 'support', sessionId: 'talk' });
    const { body } = await world.source.chat({ query: 'Ship o-1', agent: 'support', sessionId: 'talk' });
    const text = await world.exportOf(String(body['run_id']));
    expect(text).toContain('Are you there?');
    expect(await world.checkAt(await world.open(), text)).toMatchObject({ status: 'same' });
  });

  it('finds none in runs with an approval, edited arguments, a denial and an answer', async () => {
    const decisions: [string, Readonly<Record<string, unknown>>, string, object][] = [
      ['pay', { to: 'bob', amount: 5 }, 'approve', {}],
      ['refund', { to: 'bob', amount: 500 }, 'approve', { arguments: { to: 'bob', amount: 5 } }],
      ['pay', { to: 'eve', amount: 5 }, 'deny', { reason: 'no' }],
      ['choose', { text: 'Rome' }, 'input', { value: 'LH1' }],
    ];
    for (const [tool, args, verb, body] of decisions) {
      world.llm.reset();
      world.llm.reply(callOf(tool, args), { text: 'done' });
      const id = await world.ask(`Use ${tool}`);
      expect((await world.source.post(`/api/runs/${id}/${verb}`, body)).status).toBe(202);
      await world.source.events(id);
      expect([tool, verb, await world.checkAt(world.source, await world.exportOf(id))]).toMatchObject([
        tool,
        verb,
        { status: 'same' },
      ]);
    }
  });

  it('finds none in runs that failed, that reached their limit, and with calls that failed', async () => {
    const limited = { agent: { limits: { maxIterations: 2 } } };
    world.llm.reply(callOf('ship', { id: 'o-1' }), { status: 401 });
    const failed = await world.record();
    expect(parseExportedRun(failed)).toMatchObject({ status: 'failed' });
    expect(await world.checkAt(await world.open(), failed)).toMatchObject({ status: 'same' });
    const server = await world.open(limited);
    world.llm.reply(callOf('ship', { wrong: 1 }), callOf('unknown', {}), callOf('ship', { id: 'o-2' }));
    const text = await world.record('Ship all', server);
    expect(await world.checkAt(await world.open(limited), text)).toMatchObject({ status: 'same' });
    expect((await world.checkAt(world.source, text)).divergence).toMatchObject({
      step: 'tool:2:1',
      expected: expect.stringContaining('limit'),
    });
  });

  it('finds none in a run that asked a sub-agent, whose run is a recorded outcome, nor in that run', async () => {
    const lead = { agent: { subAgents: ['aide'] } };
    const server = await world.open(lead);
    world.llm.reply(callOf('ask_aide', { query: 'help' }), { text: 'helped' }, { text: 'done' });
    const text = await world.record('Ask', server);
    const { children } = parseExportedRun(text);
    const other = await world.open(lead);
    expect(await world.checkAt(other, text)).toMatchObject({ status: 'same' });
    const [child] = Object.keys(children);
    expect(await world.checkAt(other, await world.exportOf(child!, server))).toMatchObject({
      status: 'same',
      agent: 'aide',
    });
    expect(await world.checkAt(world.source, text)).toMatchObject({ divergence: { step: 'model:1', kind: 'request' } });
  });
});

describe('a replay check of a run whose model has no API', () => {
  const agent = { model: { provider: 'scripted' } };

  it('compares the requests that the model received', async () => {
    const server = await world.open({ agent });
    const text = await world.record('Ship o-1', server);
    expect(await world.checkAt(await world.open({ agent }), text)).toMatchObject({ status: 'same' });
    const terse = await world.open({ agent: { ...agent, instructions: 'Answer.' } });
    expect(await world.checkAt(terse, text)).toMatchObject({ divergence: { step: 'model:1', kind: 'request' } });
  });
});

describe('a request that was not the exported one', () => {
  it('is a divergence by default, and accepted on demand', async () => {
    world.llm.reply(...SHIPPING);
    const run = JSON.parse(await world.record()) as { requests: { sent_hash: string }[] };
    run.requests[0]!.sent_hash = 'another';
    const text = JSON.stringify(run);
    expect((await world.checkAt(world.source, text)).divergence).toMatchObject({ step: 'model:1', kind: 'unverified' });
    expect(await world.checkAt(world.source, text, { allowsUnverified: true })).toMatchObject({ status: 'same' });
  });
});

describe('runs that cannot be checked', () => {
  it('are reported with the reason', async () => {
    world.llm.reply(callOf('pay', { to: 'bob', amount: 5 }));
    const waiting = await world.record('Pay');
    expect(await world.checkAt(world.source, waiting)).toMatchObject({
      status: 'unsupported',
      reason: expect.stringContaining('waiting'),
    });
    world.llm.reply({ text: 'one' });
    const id = await world.ask();
    world.llm.reply({ text: 'two' });
    const { body } = await world.source.post(`/api/runs/${id}/fork`, { fromStep: 'model:1' });
    await world.source.events(String(body['run_id']));
    const fork = await world.exportOf(String(body['run_id']));
    expect(await world.checkAt(world.source, fork)).toMatchObject({
      status: 'unsupported',
      reason: expect.stringContaining(id),
    });
    const own = await world.open({ agent: { model: { provider: 'scripted' } } });
    expect(await world.checkAt(own, await world.exportOf(id))).toMatchObject({
      status: 'unsupported',
      reason: expect.stringContaining('not comparable'),
    });
  });

  it('have exports that are refused with a remedy', () => {
    expect(() => parseExportedRun('{')).toThrow('is no JSON');
    expect(() => parseExportedRun('{"run_id":"x"}')).toThrow('jackdaw runs export');
    expect(() => parseExportedRun('{"version":1}')).toThrow('run_id');
  });
});
