import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TaskState } from '@a2a-js/sdk';
import { ask, openClient, StreamLog } from './support/a2a-world.js';
import { FakeAgent, task } from './support/fake-agent.js';
import { gate } from './support/jackdaw.js';
import type { ServerProcess } from './support/process.js';
import { ProcessWorld } from './support/process-world.js';

describe('the stream of a task', () => {
  const world = ProcessWorld.prepare();

  it('is subscribed to again after the server was killed and started', async () => {
    const open = gate();
    world.llm
      .reply({ text: 'one two three four', stallAfter: 3 })
      .reply({ gate: open.opened, text: 'one two three four' });
    const first = await world.start();
    const before = await openClient(first.url);
    const log = new StreamLog();
    await log.read(before.sendMessageStream(ask('count')), () => !log.artifacts.get('answer')?.includes('two'));
    await first.kill();
    const second = await world.start();
    await world.llm.waitForRequest(2);
    const after = await openClient(second.url);
    const more = new StreamLog();
    await more.read(after.resubscribeTask({ tenant: '', id: log.taskId }), () => open.open());
    expect(more.taskId).toBe(log.taskId);
    expect(more.artifacts.get('answer')).toBe('one two three four');
    expect(more.kinds.at(-1)).toBe(`statusUpdate:${TaskState.TASK_STATE_COMPLETED}`);
  });
});

describe('a call of a remote agent', () => {
  const world = ProcessWorld.prepare();
  let agent: FakeAgent;
  beforeEach(async () => {
    agent = (await FakeAgent.start()).promiseIdempotency();
    world.llm.always(({ messages }) => {
      const last = messages.at(-1)!;
      if (last.role === 'tool') return { text: `Got: ${String(last.content)}` };
      return { calls: [{ id: 'c1', name: 'fake', arguments: { message: 'Do it' } }] };
    });
  });
  afterEach(() => agent.close());

  function start(): Promise<ServerProcess> {
    const path = join(world.folder, 'a2a-agents.json');
    writeFileSync(path, JSON.stringify({ a2aAgents: { fake: { description: 'Does it.', url: agent.url } } }));
    const AGENTS = JSON.stringify([{ name: 'default', model: { provider: 'openai' }, tools: ['fake'] }]);
    return world.start({ A2A_AGENTS_FILE: path, OUTGOING_ALLOW: '127.0.0.1', A2A_POLL_MS: '100', AGENTS });
  }

  async function run(server: ServerProcess): Promise<string> {
    const { body } = await server.post('/api/agent/runs', { query: 'Go' });
    return (body as unknown as { run_id: string }).run_id;
  }

  it('continues the task by its id when its process was killed while it waited', async () => {
    const looked = gate();
    agent.on('SendMessage', { task: task('WORKING') }).on('GetTask', () => {
      looked.open();
      return task('WORKING');
    });
    const first = await start();
    const runId = await run(first);
    await looked.opened;
    await first.kill();
    agent.on('GetTask', task('COMPLETED', 'Done.'));
    const second = await start();
    await second.events(runId);
    expect((await second.get(`/api/runs/${runId}`)).body).toMatchObject({ status: 'completed', result: 'Got: Done.' });
    expect(agent.calls('SendMessage')).toHaveLength(1);
  });

  it('repeats the same message when its process was killed before the reply', async () => {
    const sent = gate();
    agent.on('SendMessage', () => sent.open(), { task: task('COMPLETED', 'Done.') });
    const first = await start();
    const runId = await run(first);
    await sent.opened;
    await first.kill();
    const second = await start();
    await second.events(runId);
    expect((await second.get(`/api/runs/${runId}`)).body).toMatchObject({ status: 'completed', result: 'Got: Done.' });
    const ids = agent.calls('SendMessage').map(({ message }) => (message as { messageId: string }).messageId);
    expect(ids).toEqual([`${runId}:tool:1:1`, `${runId}:tool:1:1`]);
  });

  it('waits for a person when the agent may have got the message twice', async () => {
    const sent = gate();
    agent.card = {};
    agent.on('SendMessage', () => sent.open());
    const first = await start();
    const runId = await run(first);
    await sent.opened;
    await first.kill();
    const second = await start();
    await second.events(runId);
    expect((await second.get(`/api/runs/${runId}`)).body).toMatchObject({
      status: 'waiting',
      waiting: [{ kind: 'outcome_unknown' }],
    });
    expect(agent.calls('SendMessage')).toHaveLength(1);
  });
});
