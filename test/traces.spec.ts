import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeLlm } from './support/fake-llm.js';
import { type Jackdaw, startJackdaw, type StartOptions } from './support/jackdaw.js';
import { faultsOfTrace, OtlpCollector, tokensOf } from './support/otlp-collector.js';
import { TestTools } from './support/test.tool.js';

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
  await jackdaw?.stop();
  jackdaw = undefined;
  await collector.close();
  await llm.close();
});

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
