import { describe, expect, it } from 'vitest';
import type { SseEvent } from './support/event-stream.js';
import type { ServerProcess } from './support/process.js';
import { ProcessWorld } from './support/process-world.js';
import { doneIn, STEPS, stepByStep } from './support/step-script.js';
import { expectPairs } from './support/waiting-run.js';

const SESSION = 'crashing';
const QUESTION = { query: 'do five steps', sessionId: SESSION };

const world = ProcessWorld.prepare();

function numbersTo(last: number): number[] {
  return Array.from({ length: last }, (_, i) => i + 1);
}

/** The journaled events: those with an id. */
function journaled(events: readonly SseEvent[]): SseEvent[] {
  return events.filter(({ id }) => id !== null);
}

/** Expects one turn in the session, each call directly followed by one result. */
async function expectOneTurn(server: ServerProcess): Promise<Record<string, unknown>[]> {
  const messages = await expectPairs(server, SESSION);
  expect(new Set(messages.map(({ turn }) => turn))).toEqual(new Set([1]));
  return messages;
}

/** Runs until the process is killed in its third step. @returns the run's id */
async function crashInStep3(tool: string): Promise<string> {
  world.llm.always(stepByStep(tool));
  const first = await world.start({ BLOCK_AT: `${tool} 3` });
  const stream = await first.stream(QUESTION);
  await first.waitForLine(`performing ${tool} 3`);
  await stream.waitFor('tool.started', 3);
  await first.kill();
  return stream.runId;
}

/** Settles the third step and expects the run to end. @param done all executions of the tool */
async function expectSettled(server: ServerProcess, runId: string, settlement: object, done: readonly number[]) {
  const settled = await server.post(`/api/runs/${runId}/settle`, settlement);
  expect(settled).toMatchObject({ status: 202, body: { run_id: runId } });
  const events = await server.events(runId);
  expect(events.at(-1)).toMatchObject({ event: 'run.completed', data: { result: 'all done' } });
  expect(world.effects()).toEqual(done.map((step) => `once_step ${step}`));
  expect(world.llm.requests.map(doneIn)).toEqual([0, 1, 2, 3, 4, 5]);
  await expectOneTurn(server);
}

describe('kill -9 in step 3 of 5, idempotent_step', () => {
  it('resumes at the next start and repeats only the interrupted step', async () => {
    const runId = await crashInStep3('idempotent_step');
    const second = await world.start();
    expect((await second.events(runId)).at(-1)).toMatchObject({ event: 'run.completed' });
    expect(world.effects()).toEqual([1, 2, 3, 3, 4, 5].map((step) => `idempotent_step ${step}`));
    expect(world.llm.requests.map(doneIn)).toEqual([0, 1, 2, 3, 4, 5]);
  });
});

describe('kill -9 in step 3 of 5, guarded_step', () => {
  it('invokes the request-scoped guard again in the next process with the same tenant', async () => {
    const runId = await crashInStep3('guarded_step');
    const second = await world.start();
    expect((await second.events(runId)).at(-1)).toMatchObject({ event: 'run.completed' });
    const both = (step: number) => [`guard default local guarded_step ${step}`, `guarded_step ${step}`];
    expect(world.effects()).toEqual([1, 2, 3, 3, 4, 5].flatMap(both));
  });
});

describe('kill -9 in step 3 of 5', () => {
  it('resumes at the next start with ordered events, numbers without a gap and one complete turn', async () => {
    const runId = await crashInStep3('read_step');
    const second = await world.start();
    const events = journaled(await second.events(runId));

    expect(events.at(-1)).toMatchObject({ event: 'run.completed', data: { result: 'all done', iterations: 6 } });
    // Step 3 is executed twice, so this scenario detects a repetition.
    expect(world.effects()).toEqual([1, 2, 3, 3, 4, 5].map((step) => `read_step ${step}`));
    expect(world.llm.requests.map(doneIn)).toEqual([0, 1, 2, 3, 4, 5]);
    expect((await second.get(`/api/runs/${runId}`)).body).toMatchObject({ status: 'completed', is_complete: true });

    expect(events.map(({ id }) => id)).toEqual(numbersTo(events.length));
    const step = ['message.completed', 'usage', 'tool.started', 'tool.completed'];
    expect(events.map(({ event }) => event)).toEqual([
      'run.started',
      ...step,
      ...step,
      'message.completed',
      'usage',
      'tool.started',
      'run.resumed',
      'tool.started',
      'tool.completed',
      ...step,
      ...step,
      'message.completed',
      'usage',
      'run.completed',
    ]);
    const calls = events.filter(({ event }) => event === 'tool.completed').map(({ data }) => data['result']);
    expect(calls).toEqual(numbersTo(STEPS).map((n) => `did step ${n}`));

    await second.kill();
    const third = await world.start();
    const messages = await expectOneTurn(third);
    const pairs = numbersTo(STEPS).flatMap(() => ['assistant', 'tool']);
    expect(messages.map(({ role }) => role)).toEqual(['user', ...pairs, 'assistant']);
  });

  it('makes the run wait after each start until a person settles a tool call that must not repeat', async () => {
    const runId = await crashInStep3('once_step');
    let server = await world.start();
    const events = await server.events(runId);
    expect(events.at(-1)).toMatchObject({
      event: 'run.waiting',
      data: { reason: 'outcome_unknown', requests: [{ id: 'settle:3:1', step: 'tool:3:1', tool: 'once_step' }] },
    });
    const started = events.filter(({ event }) => event === 'tool.started').at(-1);
    expect(events.at(-1)!.data['requests']).toMatchObject([{ call_id: started!.data['call_id'] }]);

    await server.kill();
    server = await world.start();
    expect((await server.get(`/api/runs/${runId}`)).body).toMatchObject({ status: 'waiting', is_complete: false });
    const again = journaled(await server.events(runId));
    expect(again).toEqual(journaled(events));
    expect(again.map(({ id }) => id)).toEqual(numbersTo(again.length));
    expect(world.effects()).toEqual(numbersTo(3).map((step) => `once_step ${step}`));
    expect(world.llm.requests.map(doneIn)).toEqual([0, 1, 2]);

    const next = await server.chat({ query: 'and now?', sessionId: SESSION });
    expect(next).toMatchObject({ status: 409, body: { code: 'SESSION_BUSY', run_id: runId } });

    await expectSettled(server, runId, { outcome: 'succeeded', result: 'seen' }, [1, 2, 3, 4, 5]);
  });

  it('repeats the call when the settlement says that it did not happen', async () => {
    const runId = await crashInStep3('once_step');
    const second = await world.start();
    await second.events(runId);
    await second.kill();
    await expectSettled(await world.start(), runId, { outcome: 'retry' }, [1, 2, 3, 3, 4, 5]);
  });
});

describe('kill -9 while a run waits for approval', () => {
  it('loses no request, and the next process persists the approval', async () => {
    world.llm.always((request) =>
      doneIn(request) === 0
        ? { calls: [{ id: 'c', name: 'approved_step', arguments: { step: 1 } }] }
        : { text: 'done' },
    );
    const first = await world.start();
    const { status, body } = await first.chat(QUESTION);
    const runId = String(body['run_id']);
    const { waiting } = body;
    expect([status, waiting]).toMatchObject([202, [{ kind: 'approval', call_id: 'c' }]]);
    await first.kill();

    const second = await world.start({ BLOCK_AT: 'approved_step 1' });
    expect((await second.get(`/api/runs/${runId}`)).body).toMatchObject({ status: 'waiting', waiting });
    expect((await second.post(`/api/runs/${runId}/approve`, {})).status).toBe(202);
    await second.waitForLine('performing approved_step 1');
    await second.kill();

    const third = await world.start();
    expect((await third.events(runId)).at(-1)).toMatchObject({ data: { reason: 'outcome_unknown' } });
    expect((await third.post(`/api/runs/${runId}/approve`, {})).status).toBe(409);
    expect((await third.post(`/api/runs/${runId}/settle`, { outcome: 'succeeded', result: 'seen' })).status).toBe(202);
    const events = journaled(await third.events(runId));
    expect(events.at(-1)?.event).toBe('run.completed');
    expect(events.map(({ id }) => id)).toEqual(numbersTo(events.length));
    const decided = events.filter(({ event }) => event === 'policy.decided').map(({ data }) => data['decision']);
    expect([decided, world.effects()]).toEqual([['approved', 'settled'], ['approved_step 1']]);
    await expectOneTurn(third);
  });
});

describe('kill -9 during a model call', () => {
  it('repeats that model call and no other', async () => {
    const steps = stepByStep('read_step');
    world.llm.reply(steps, steps, { hang: true });
    const first = await world.start();
    const { runId } = await first.stream(QUESTION);
    await world.llm.waitForRequest(3);
    await first.kill();
    world.llm.always(steps);
    const second = await world.start();
    const events = await second.events(runId);

    expect(events.at(-1)).toMatchObject({ event: 'run.completed', data: { result: 'all done' } });
    expect(world.llm.requests.map(doneIn)).toEqual([0, 1, 2, 2, 3, 4, 5]);
    expect(world.llm.requests[3]).toEqual(world.llm.requests[2]);
    expect(world.effects()).toEqual(numbersTo(STEPS).map((step) => `read_step ${step}`));
    const ids = journaled(events).map(({ id }) => id);
    expect(ids).toEqual(numbersTo(ids.length));
  });
});
