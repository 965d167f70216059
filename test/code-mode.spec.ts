import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FakeLlm } from './support/fake-llm.js';
import { byTurn, call, Forks } from './support/forks.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { Tool } from '../src/index.js';
import { parseExportedRun, replayRun } from '../src/run/replay/index.js';

const MODEL = { provider: 'openai', name: 'm1' };
const done: string[] = [];

class OrderTools {
  @Tool({
    description: 'Finds an order.',
    effect: 'read',
    input: { type: 'object', properties: { id: { type: 'integer', description: 'Number' } }, required: ['id'] },
  })
  find_order({ id }: { id: number }) {
    done.push(`find ${id}`);
    return { id, total: id * 10 };
  }

  @Tool({
    description: 'Refunds an order.',
    effect: 'once',
    approval: 'always',
    input: {
      type: 'object',
      properties: { id: { type: 'integer' }, amount: { type: 'integer' } },
      required: ['id', 'amount'],
    },
  })
  refund({ id, amount }: { id: number; amount: number }) {
    done.push(`refund ${id} ${amount}`);
    return `refunded ${amount}`;
  }
}

let llm: FakeLlm;
let jackdaw: Jackdaw;
let forks: Forks;

beforeAll(async () => {
  llm = await FakeLlm.start();
  const agents = [{ name: 'clerk', model: MODEL, codeMode: true }];
  jackdaw = await startJackdaw({ llm, tools: [OrderTools], options: { agents } });
  forks = new Forks(jackdaw);
});
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
});
beforeEach(() => {
  llm.reset();
  done.length = 0;
});

function write(script: string): void {
  llm.always(byTurn({ calls: [call('s', 'run_script', { script })] }, { text: 'It is done.' }));
}

async function ask(script: string) {
  write(script);
  return jackdaw.chat({ query: 'do it', agent: 'clerk', includeDetails: true });
}

/** The result of the script as the model got it. */
function resultForModel(): unknown {
  return llm.requests.at(-1)!.messages.findLast(({ role }) => role === 'tool')!.content;
}

const FIND_ALL = `
  const orders = await Promise.all([1, 2, 3].map((id) => tools.find_order({ id })));
  return orders.reduce((sum, { total }) => sum + total, 0);`;

describe('an agent with code mode', () => {
  it('calls several tools by one reply, each as a step of the run', async () => {
    const { status, body } = await ask(FIND_ALL);
    expect([status, body]).toMatchObject([200, { result: 'It is done.', is_complete: true }]);
    expect(resultForModel()).toBe('60');
    expect(llm.requests).toHaveLength(2);
    expect(llm.requests[0]!.tools!.map((tool) => tool.function.name)).toEqual(['run_script']);
    expect(JSON.stringify(llm.requests[0]!.messages[0])).toContain('find_order(input: { /** Number */ id: number })');
    expect(await forks.steps(String(body['run_id']))).toEqual(
      expect.arrayContaining(['tool:1:1.1', 'tool:1:1.2', 'tool:1:1.3', 'tool:1:1']),
    );
    // The results of a response are those that the model got.
    expect(body['tool_results']).toMatchObject([{ tool: 'run_script', result: 60 }]);
  });

  it('waits for the approval of a call inside a script, and continues with the edited arguments', async () => {
    const { status, body } = await ask(`
      const { total } = await tools.find_order({ id: 4 });
      const first = await tools.refund({ id: 4, amount: total });
      return [first, await tools.find_order({ id: 5 })];`);
    const runId = String(body['run_id']);
    expect([status, body['waiting']]).toMatchObject([
      202,
      [{ kind: 'approval', step: 'tool:1:1.2', tool: 'refund', arguments: '{"id":4,"amount":40}' }],
    ]);
    const [{ call_id: callId }] = body['waiting'] as unknown as [{ call_id: string }];
    const approval = { callId, arguments: { id: 4, amount: 30 } };
    expect((await jackdaw.post(`/api/runs/${runId}/approve`, approval)).status).toBe(202);
    const events = await jackdaw.events(runId);
    expect(events.at(-1)).toMatchObject({ event: 'run.completed' });
    // The script was executed again; its calls were not.
    expect(done).toEqual(['find 4', 'refund 4 30', 'find 5']);
    expect(resultForModel()).toBe('["refunded 30",{"id":5,"total":50}]');
    const started = events.filter(({ event }) => event === 'tool.started').map(({ data }) => data['tool']);
    expect(started).toEqual(['run_script', 'find_order', 'refund', 'find_order']);
  });

  it('gives a denial to the script, which can continue', async () => {
    const { body } = await ask(`
      try { await tools.refund({ id: 4, amount: 1 }); } catch (error) { return error.code + ': ' + error.message; }`);
    await jackdaw.post(`/api/runs/${String(body['run_id'])}/deny`, { reason: 'too late' });
    await jackdaw.events(String(body['run_id']));
    expect(resultForModel()).toBe('TOOL_DENIED: Denied by local: too late');
    expect(done).toEqual([]);
  });

  it('asks for all approvals of parallel calls at once', async () => {
    const { body } = await ask(`
      return Promise.all([1, 2].map((id) => tools.refund({ id, amount: 5 })));`);
    const requests = body['waiting'] as unknown as { id: string; call_id: string }[];
    expect(requests.map(({ id }) => id)).toEqual(['approval:1:1.1', 'approval:1:1.2']);
    for (const { call_id: callId } of requests) {
      expect((await jackdaw.post(`/api/runs/${String(body['run_id'])}/approve`, { callId })).status).toBe(202);
      await jackdaw.events(String(body['run_id']));
    }
    expect(resultForModel()).toBe('["refunded 5","refunded 5"]');
    expect(done.toSorted()).toEqual(['refund 1 5', 'refund 2 5']);
  });

  it('can be forked with another result of one call inside a script', async () => {
    const { body } = await ask(FIND_ALL);
    llm.reset();
    done.length = 0;
    write('unused');
    const fork = await forks.make(String(body['run_id']), 'tool:1:1.2', { toolResult: { id: 2, total: 1000 } });
    expect(fork.events.at(-1)).toMatchObject({ event: 'run.completed' });
    expect(resultForModel()).toBe('1040');
    // The call before is copied, and those after are made again.
    expect(done).toEqual(['find 3']);
    const calls = fork.events.filter(({ event }) => event === 'tool.started').map(({ data }) => data['call_id']);
    expect(calls).toEqual(['s', 's.1', 's.2', 's.3']);
  });

  it('passes the replay check of an exported run', async () => {
    const { body } = await ask(FIND_ALL);
    const { text } = await jackdaw.get(`/api/runs/${String(body['run_id'])}/export`);
    expect(await replayRun(jackdaw.app, parseExportedRun(text), {})).toMatchObject({ status: 'same' });
  });

  it('shows its calls and approvals to a page of the AI SDK', async () => {
    write('return tools.refund({ id: 1, amount: 2 })');
    const message = { id: 'm', role: 'user', parts: [{ type: 'text', text: 'refund' }] };
    const { text } = await jackdaw.post('/api/agent/ui', { id: 'page-1', agent: 'clerk', messages: [message] });
    expect(text).toContain('"type":"tool-approval-request"');
    expect(text).toMatch(/"approvalId":"approval_[\w-]+_1_1\.1"/);
  });
});
