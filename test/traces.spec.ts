import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AgentNode, CodeNode, LlmNode, MapNode, WorkflowBuilder } from '../src/index.js';
import { FakeLlm } from './support/fake-llm.js';
import { Forks } from './support/forks.js';
import { type Jackdaw, newFolder, startJackdaw, type StartOptions } from './support/jackdaw.js';
import { faultsOfTrace, OtlpCollector, tokensOf } from './support/otlp-collector.js';
import { restoreProcess } from './support/process-defaults.js';
import { AgentTree, ask, callsThen } from './support/run-tree.js';
import { TestTools } from './support/test.tool.js';
import { WaitingTools } from './support/waiting.tool.js';
import { WaitingRun } from './support/waiting-run.js';
import { WorkflowWorld } from './support/workflow-world.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const TRACEPARENT = { traceparent: `00-${TRACE}-${PARENT}-01` };

let llm: FakeLlm;
let collector: OtlpCollector;
let jackdaw: Jackdaw | undefined;

beforeEach(async () => {
  llm = await FakeLlm.start();
  collector = await OtlpCollector.start();
});
afterEach(async () => {
  await stop();
  await collector.close();
  await llm.close();
});

async function stop(): Promise<void> {
  await jackdaw?.stop();
  jackdaw = undefined;
  // The log of a process is that of its first application.
  restoreProcess();
}

async function start({ env, ...options }: StartOptions = {}): Promise<Jackdaw> {
  jackdaw = await startJackdaw({
    llm,
    tools: [new TestTools()],
    ...options,
    env: { LLM_MODEL: 'gpt-4o', ...collector.env, ...env },
  });
  return jackdaw;
}

function scriptDouble(): void {
  llm
    .reply({ calls: [{ name: 'double', arguments: { n: 2 } }], usage: [50, 10] })
    .reply({ text: 'the answer is 4', usage: [60, 5] });
}

describe('traces', () => {
  it('have one span for the run, each model call and each tool call, with times, tokens and parents', async () => {
    const server = await start();
    scriptDouble();
    const { body } = await server.chat({ query: 'double 2', sessionId: 's1' });
    const run = await collector.waitFor('invoke_agent default');
    const { spans } = collector;
    expect(faultsOfTrace(spans)).toEqual([]);
    expect(spans.map(({ name, kind, parentSpanId }) => [name, kind, parentSpanId])).toEqual([
      ['chat gpt-4o', 3, run.spanId],
      ['execute_tool double', 1, run.spanId],
      ['chat gpt-4o', 3, run.spanId],
      ['invoke_agent default', 1, undefined],
    ]);
    expect(tokensOf(spans)).toEqual({ prompt_tokens: 110, completion_tokens: 15 });
    expect(body['usage']).toMatchObject(tokensOf(spans));
    expect(spans.map(({ attributes }) => attributes)).toMatchObject([
      {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'openai',
        'gen_ai.request.model': 'gpt-4o',
        'gen_ai.response.finish_reasons': ['tool_calls'],
        'gen_ai.usage.input_tokens': 50,
        'jackdaw.step.name': 'model:1',
      },
      { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'double', 'jackdaw.step.name': 'tool:1:1' },
      { 'gen_ai.response.finish_reasons': ['stop'] },
      {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': 'default',
        'gen_ai.conversation.id': 's1',
        'jackdaw.run.id': body['run_id'],
        'jackdaw.run.status': 'completed',
      },
    ]);
    for (const span of spans) {
      expect(BigInt(span.startTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(run.startTimeUnixNano));
      expect(BigInt(span.endTimeUnixNano)).toBeLessThanOrEqual(BigInt(run.endTimeUnixNano));
    }
  });

  it('continue the trace of the request, and pass each step on to its request', async () => {
    const server = await start();
    scriptDouble();
    await server.chat({ query: 'double 2' }, TRACEPARENT);
    const run = await collector.waitFor('invoke_agent default');
    expect(run).toMatchObject({ traceId: TRACE, parentSpanId: PARENT });
    expect(faultsOfTrace(collector.spans, PARENT)).toEqual([]);
    const chats = collector.spans.filter(({ name }) => name.startsWith('chat '));
    expect(llm.envelopes.map(({ headers }) => headers['traceparent'])).toEqual(
      chats.map(({ spanId }) => `00-${TRACE}-${spanId}-01`),
    );
  });
});

describe('traces of model calls that a tool makes', () => {
  it('have the embeddings below the call, with the tokens of the run', async () => {
    const server = await start({ env: { LONG_TERM_MEMORY: 'on', EMBEDDING_MODEL: 'embed-1', METRICS: 'off' } });
    llm
      .reply({ calls: [{ name: 'recall', arguments: { query: 'tea' } }], usage: [50, 10] })
      .reply({ text: 'green tea', usage: [60, 5] });
    const { body } = await server.chat({ query: 'which tea?' });
    await collector.waitFor('invoke_agent default');
    const { spans } = collector;
    expect(faultsOfTrace(spans)).toEqual([]);
    const [call] = spans.filter(({ name }) => name === 'execute_tool recall');
    expect(spans.filter(({ name }) => name === 'embeddings embed-1')).toMatchObject([{ parentSpanId: call!.spanId }]);
    expect(tokensOf(spans).prompt_tokens).toBeGreaterThan(110);
    expect(body['usage']).toMatchObject(tokensOf(spans));
    expect(spans[0]!.attributes).toMatchObject({ 'gen_ai.provider.name': 'openai' });
  });
});

describe('traces of a run that waits for a person', () => {
  const pay = { id: 'p', name: 'pay', arguments: { to: 'bob', amount: 5 } };
  const scriptPay = () => llm.reply({ calls: [pay], usage: [10, 1] }).reply({ text: 'paid', usage: [20, 2] });

  async function expectWholeTrace(runId: string): Promise<void> {
    await collector.waitFor('invoke_agent default');
    const { spans } = collector;
    expect(faultsOfTrace(spans)).toEqual([]);
    expect(spans.map(({ name }) => name)).toEqual([
      'chat gpt-4o',
      'execute_tool pay',
      'chat gpt-4o',
      'invoke_agent default',
    ]);
    expect(spans.map(({ attributes }) => attributes['jackdaw.run.id'])).toEqual(spans.map(() => runId));
    expect(tokensOf(spans)).toEqual({ prompt_tokens: 30, completion_tokens: 3 });
  }

  it.each([
    ['while its first spans wait for a batch', '60000'],
    ['after its first spans were sent', '1'],
  ])('have each span once if the run resumes %s', async (_when, delay) => {
    const server = await start({ tools: [new WaitingTools()], env: { OTEL_BSP_SCHEDULE_DELAY: delay } });
    scriptPay();
    const run = await WaitingRun.begin(server, 's');
    if (delay === '1') await collector.waitFor('chat gpt-4o');
    await run.decide('approve');
    await server.events(run.id);
    if (delay !== '1') await stop();
    await expectWholeTrace(run.id);
  });

  it('have each span once after a restart, in which the log has the trace of the request', async () => {
    const dataDir = newFolder();
    const tools = [new WaitingTools()];
    scriptPay();
    const first = await start({ tools, dataDir });
    const { body } = await first.chat({ query: 'pay bob', sessionId: 's' }, TRACEPARENT);
    await stop();
    expect(collector.spans.map(({ name }) => name)).toEqual(['chat gpt-4o']);
    const second = await start({ tools, dataDir, env: { LOG_LEVEL: 'info' } });
    const run = new WaitingRun(second, String(body['run_id']));
    await run.decide('approve');
    await second.events(run.id);
    await collector.waitFor('invoke_agent default');
    expect(faultsOfTrace(collector.spans, PARENT)).toEqual([]);
    expect(collector.spans).toHaveLength(4);
    await stop();
    const ended = second.log.find(({ msg }) => msg === 'Run execution ended');
    expect(ended).toMatchObject({ run_id: run.id, trace_id: TRACE });
  });
});

describe('traces of several runs', () => {
  it('have the runs of sub-agents below the call that asked them', async () => {
    const tree = await AgentTree.begin({ boss: { subAgents: ['scout'] }, scout: {} }, { env: collector.env });
    tree.say({
      boss: callsThen([ask('scout', 'what is out there?')], () => 'nothing'),
      scout: () => ({ text: 'trees', usage: [7, 3] }),
    });
    const { body } = await tree.jackdaw.chat({ query: 'look' }, TRACEPARENT);
    await collector.waitFor('invoke_agent boss');
    const { spans } = collector;
    await tree.stop();
    expect(faultsOfTrace(spans, PARENT)).toEqual([]);
    const [child] = spans.filter(({ name }) => name === 'invoke_agent scout');
    const [call] = spans.filter(({ name }) => name === 'execute_tool ask_scout');
    expect(child).toMatchObject({ traceId: TRACE, parentSpanId: call!.spanId });
    expect(BigInt(call!.startTimeUnixNano)).toBeLessThanOrEqual(BigInt(child!.startTimeUnixNano));
    const ofChild = spans.filter(
      ({ attributes }) => attributes['jackdaw.run.id'] === child!.attributes['jackdaw.run.id'],
    );
    expect(tokensOf(ofChild)).toMatchObject({ prompt_tokens: 7, completion_tokens: 3 });
    expect(body['children_usage']).toMatchObject(tokensOf(ofChild));
  });

  it('have the nodes of a workflow, with their model calls, calls and items', async () => {
    const workflow = new WorkflowBuilder('letters')
      .add(new LlmNode('classify', 'Kind of letter'))
      .add(new CodeNode('load', 'load_order', { id: 'o-1' }))
      .add(new AgentNode('hand_on', { instructions: 'You are the desk.', tools: [] }, 'Answer'))
      .add(new MapNode('each', '{{load.result.prices}}', new LlmNode('item', 'Item {{index}}')))
      .build();
    const world = await WorkflowWorld.begin([workflow], { env: collector.env });
    const { status } = await world.run('letters');
    expect(status).toBe(200);
    await collector.waitFor('invoke_workflow letters');
    const { spans } = collector;
    await world.stop();
    expect(faultsOfTrace(spans)).toEqual([]);
    const nameOf = (id: string | undefined) => spans.find(({ spanId }) => spanId === id)?.name;
    expect(spans.map(({ name, parentSpanId }) => `${nameOf(parentSpanId)} > ${name}`).toSorted()).toEqual(
      [
        'undefined > invoke_workflow letters',
        'invoke_workflow letters > node classify',
        'node classify > chat gpt-4o',
        'invoke_workflow letters > node load',
        'node load > execute_tool load_order',
        'invoke_workflow letters > node hand_on',
        'node hand_on > invoke_agent letters_node3',
        'invoke_agent letters_node3 > chat gpt-4o',
        'invoke_workflow letters > node each',
        ...[1, 2, 3].flatMap((n) => [`node each > node each/${n}`, `node each/${n} > chat gpt-4o`]),
      ].toSorted(),
    );
  });

  it('link a fork to its original', async () => {
    const server = await start();
    scriptDouble();
    const { body } = await server.chat({ query: 'double 2' }, TRACEPARENT);
    const original = await collector.waitFor('invoke_agent default');
    collector.reset();
    llm.reply({ text: 'the fork', usage: [3, 1] });
    const { id } = await new Forks(server).make(String(body['run_id']), 'model:2');
    const fork = await collector.waitFor('invoke_agent default');
    expect(fork).toMatchObject({
      attributes: { 'jackdaw.run.id': id },
      links: [{ traceId: TRACE, spanId: original.spanId }],
    });
    // The spans of the copied steps are those of the original.
    expect(faultsOfTrace(collector.spans)).toEqual([]);
    expect(collector.spans.map(({ name }) => name)).toEqual(['chat gpt-4o', 'invoke_agent default']);
  });
});

describe('content in traces', () => {
  const SECRET = 'tool-secret-0123456789';
  const question = `double 2, my key is ${SECRET}`;
  const env = { TOOL_SECRETS: 'KEY', KEY: SECRET };

  it('is absent by default', async () => {
    const server = await start();
    scriptDouble();
    await server.chat({ query: question });
    await collector.waitFor('invoke_agent default');
    expect(collector.spans.flatMap(({ attributes }) => Object.keys(attributes))).not.toContainEqual(
      expect.stringMatching(/messages|arguments|result/),
    );
    expect(JSON.stringify(collector.requests)).not.toMatch(/double 2|answer is/);
  });

  it('has messages, arguments and results with TELEMETRY_CONTENT=on, without secrets', async () => {
    const server = await start({ env: { ...env, TELEMETRY_CONTENT: 'on' } });
    scriptDouble();
    await server.chat({ query: question });
    const run = await collector.waitFor('invoke_agent default');
    const [chat, tool] = collector.spans;
    expect(JSON.parse(String(chat!.attributes['gen_ai.output.messages']))).toMatchObject([
      { role: 'assistant', parts: [{ type: 'tool_call', name: 'double', arguments: '{"n":2}' }] },
    ]);
    expect(tool!.attributes).toMatchObject({
      'gen_ai.tool.call.arguments': '{"n":2}',
      'gen_ai.tool.call.result': '4',
    });
    expect(run.attributes).toMatchObject({
      'gen_ai.input.messages': JSON.stringify([
        { role: 'user', parts: [{ type: 'text', content: 'double 2, my key is [redacted]' }] },
      ]),
      'gen_ai.output.messages': expect.stringContaining('the answer is 4') as string,
    });
    expect(JSON.stringify(collector.requests)).not.toContain(SECRET);
  });
});
