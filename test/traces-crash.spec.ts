import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { clusterStores, describeClusters } from './support/cluster-stores.js';
import { faultsOfTrace, OtlpCollector, tokensOf } from './support/otlp-collector.js';
import type { ServerProcess } from './support/process.js';
import { ProcessWorld } from './support/process-world.js';
import { stepByStep } from './support/step-script.js';
import { itInLongForm } from './support/long-form.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';

const world = ProcessWorld.prepare();
let collector: OtlpCollector;

beforeEach(async () => {
  collector = await OtlpCollector.start();
});
afterEach(() => collector.close());

/** Starts a run in a trace, and kills the process in its third step. @returns the run's id */
async function crashInStep3(env: Readonly<Record<string, string>>, isReady: () => Promise<void>): Promise<string> {
  world.llm.always(stepByStep('read_step'));
  const first = await world.start({ ...collector.env, ...env, BLOCK_AT: 'read_step 3' });
  const traceparent = `00-${TRACE}-${PARENT}-01`;
  const { body } = await first.post('/api/agent/runs', { query: 'do five steps' }, { traceparent });
  await first.waitForLine('performing read_step 3');
  await isReady();
  await first.kill();
  return String(body['run_id']);
}

/** Starts a run in a trace, and kills the process when the run has completed and the collector may lack its last spans. */
async function crashAfterEnd(env: Readonly<Record<string, string>>, isReady = async () => {}): Promise<string> {
  world.llm.always(stepByStep('read_step'));
  const first = await world.start(env);
  const traceparent = `00-${TRACE}-${PARENT}-01`;
  const { body } = await first.post('/api/agent/runs', { query: 'do five steps' }, { traceparent });
  const runId = String(body['run_id']);
  await first.events(runId);
  await isReady();
  await first.kill();
  return runId;
}

/** A later start sends nothing of the run again: the spans of a second run come after those that the start has sent. */
async function expectNoRepetition(): Promise<void> {
  const server = await world.start(collector.env);
  await server.post('/api/agent/chat', { query: 'do five steps' });
  await collector.waitFor('invoke_agent default', 2);
  expect(collector.spans.filter(({ traceId }) => traceId === TRACE)).toHaveLength(12);
}

async function expectWholeTrace(runId: string, second: ServerProcess): Promise<void> {
  await second.events(runId);
  const run = await collector.waitFor('invoke_agent default');
  const { spans } = collector;
  expect(faultsOfTrace(spans, PARENT)).toEqual([]);
  expect(run).toMatchObject({ traceId: TRACE, parentSpanId: PARENT, attributes: { 'jackdaw.run.id': runId } });
  const count = (name: string) => spans.filter((span) => span.name.startsWith(name)).length;
  expect(['chat', 'execute_tool', 'invoke_agent'].map(count)).toEqual([6, 5, 1]);
  const { body } = await second.get(`/api/runs/${runId}`);
  expect(body['usage']).toMatchObject(tokensOf(spans));
}

describe('the trace of a run that survived kill -9', () => {
  it('has each span once if none was sent before', async () => {
    const runId = await crashInStep3({ OTEL_BSP_SCHEDULE_DELAY: '60000' }, async () => undefined);
    expect(collector.spans).toEqual([]);
    await expectWholeTrace(runId, await world.start(collector.env));
  });

  it('has each span once if the first ones were sent before', async () => {
    const { answer } = collector;
    // A further request shows that the server has recorded the success of the ones before.
    collector.answer = (response) => {
      const isSecondStep = collector.spans.filter(({ name }) => name.startsWith('execute_tool')).length === 2;
      if (isSecondStep) collector.held = true;
      else answer(response);
    };
    const runId = await crashInStep3({}, () => collector.waitForHeld());
    expect(collector.spans).toHaveLength(4);
    collector.answer = answer;
    await expectWholeTrace(runId, await world.start(collector.env));
  });
});

describe('the trace of a run that ended shortly before kill -9', () => {
  itInLongForm('has each span once if none was sent before', async () => {
    const runId = await crashAfterEnd({ ...collector.env, OTEL_BSP_SCHEDULE_DELAY: '60000' });
    expect(collector.spans).toEqual([]);
    const second = await world.start(collector.env);
    await expectWholeTrace(runId, second);
    await second.kill('SIGTERM');
    await expectNoRepetition();
  });

  it('has each span once if the first ones were sent before', async () => {
    const { answer } = collector;
    collector.answer = (response) => {
      const isSecondStep = collector.spans.filter(({ name }) => name.startsWith('execute_tool')).length === 2;
      if (isSecondStep) collector.held = true;
      else answer(response);
    };
    const runId = await crashAfterEnd(collector.env, () => collector.waitForHeld());
    expect(collector.spans).toHaveLength(4);
    collector.answer = answer;
    const second = await world.start(collector.env);
    await expectWholeTrace(runId, second);
    await second.kill('SIGTERM');
    await expectNoRepetition();
  });

  it('is complete also if the collector did not answer before', async () => {
    const { port, env } = collector;
    await collector.close();
    const runId = await crashAfterEnd(env);
    collector = await OtlpCollector.start(port);
    await expectWholeTrace(runId, await world.start(collector.env));
  });
});

describeClusters('the trace of a run that another node has taken over', await clusterStores(), (store) => {
  world.share(store, { CLUSTER_LEASE_MS: '5000', CLUSTER_CHECK_MS: '300' });

  it('has each span once', async () => {
    // The node that executes the run blocks; the other one does not send its spans.
    const other = await world.start(collector.env);
    world.llm.always(stepByStep('read_step'));
    const env = { ...collector.env, OTEL_BSP_SCHEDULE_DELAY: '60000', BLOCK_AT: 'read_step 3' };
    const first = await world.start(env);
    const traceparent = `00-${TRACE}-${PARENT}-01`;
    // A chat runs on the node that has its connection.
    const stream = await first.stream({ query: 'do five steps' }, { traceparent });
    await first.waitForLine('performing read_step 3');
    await first.kill();
    await expectWholeTrace(stream.runId, other);
  });
});
