import { afterAll, describe, expect, it } from 'vitest';
import { ForbiddenException, Logger } from '@nestjs/common';
import { reasonIn } from '../../../test/support/reasoned-run.js';
import { ALICE } from '../../../test/support/run-host.js';
import { calls, says, type Scripted, ScriptedChatModel } from '../../../test/support/scripted-chat-model.js';
import { AppError } from '../../errors/index.js';
import { MemoryRunContext } from '../../run/context/index.js';
import type { RunEvent } from '../../run/event/index.js';
import { suspend, type ToolMetadata } from '../../tool/index.js';
import type { Tool, ToolContext } from '../../tool/method/index.js';
import type { ReasoningRequest } from '../reasoning.types.js';
import { releaseScriptThreads } from './script-thread.js';

Logger.overrideLogger(false);

const LIMITS = { maxIterations: 10, maxResultBytes: 1000, maxTools: 40, maxToolTokens: 8000 };

afterAll(releaseScriptThreads);

function tool(
  name: string,
  invoke: Tool['invoke'],
  metadata: Partial<ToolMetadata> = {},
  more: Partial<Tool> = {},
): Tool {
  return {
    definition: { name, description: `Does ${name}.`, inputSchema: { type: 'object' } },
    metadata: { effect: 'read', source: 'test', egress: false, untrusted: false, private: false, ...metadata },
    validate: (value) => ({ valid: true, value }),
    invoke,
    ...more,
  };
}

const ADD = tool('add', (input) => {
  const { a, b } = input as { a: number; b: number };
  return a + b;
});
const FAIL = tool('fail', () => {
  throw new Error('It is broken.');
});

async function play(script: string, request: Partial<ReasoningRequest> = {}, run = new MemoryRunContext(ALICE)) {
  const reply = calls(['run_script', { script }]);
  return { ...(await playReplies([reply], request, run)), run };
}

async function playReplies(replies: readonly Scripted[], request: Partial<ReasoningRequest>, run: MemoryRunContext) {
  const model = new ScriptedChatModel([...replies, says('done')]);
  const all = { limits: LIMITS, tools: [ADD, FAIL], isCodeMode: true, ...request, model };
  const outcome = await reasonIn(run, all);
  const results = outcome.kind === 'ended' ? outcome.messages.filter(({ role }) => role === 'tool') : [];
  return { outcome, results: results.map(({ content }) => content), requests: model.requests };
}

function eventsOf({ events }: MemoryRunContext): unknown[] {
  return events.flatMap((event: RunEvent) => {
    if (event.type === 'tool.started') return [['started', event.call_id, event.tool]];
    return event.type === 'tool.completed' ? [['completed', event.call_id, event.success]] : [];
  });
}

describe('a script', () => {
  it('calls tools of the run, one after the other and in parallel, and returns its value to the model', async () => {
    const { results, run, requests } = await play(`
      const [x, y] = await Promise.all([tools.add({ a: 1, b: 2 }), tools.add({ a: 3, b: 4 })]);
      return { x, y, z: await tools.add({ a: x, b: y }) };`);
    expect(results).toEqual(['{"x":3,"y":7,"z":10}']);
    expect(requests[0]!.tools!.map(({ name }) => name)).toEqual(['run_script']);
    expect(JSON.stringify(requests[0]!.messages[0])).toContain('add(input: {}): Promise<unknown>;');
    const { call_id: id } = run.events.find((event) => event.type === 'tool.started')!;
    expect(eventsOf(run)).toEqual([
      ['started', id, 'run_script'],
      ['started', `${id}.1`, 'add'],
      ['started', `${id}.2`, 'add'],
      ['completed', `${id}.1`, true],
      ['completed', `${id}.2`, true],
      ['started', `${id}.3`, 'add'],
      ['completed', `${id}.3`, true],
      ['completed', id, true],
    ]);
  });

  it('catches the error of a failed call, with its code', async () => {
    const { results } = await play(`
      try { await tools.fail({}); } catch (error) { return [error.name, error.code, error.message]; }`);
    expect(JSON.parse(results[0] as string)).toEqual(['ToolError', 'TOOL_FAILED', expect.stringContaining('broken')]);
  });

  it('returns an error that the model can read, with the line', async () => {
    const error = async (script: string) => (await play(script)).results[0];
    expect(await error('const x = 1;\nreturn y;')).toBe("Error: ReferenceError: 'y' is not defined (line 2)");
    expect(await error('return await tools.none({})')).toBe(
      'Error: Error: There is no tool "none" for scripts; there is: add, fail. (line 1)',
    );
    expect(await error('await tools.fail({})')).toContain('It is broken.');
    expect(await error('return (')).toContain('SyntaxError');
    expect(await error('await tools.add({ a: 1, b: 1 });')).toContain('returned nothing');
  });

  it('executes calls that it does not wait for', async () => {
    const { run } = await play('tools.add({ a: 1, b: 1 }); return 1;');
    expect(eventsOf(run)).toHaveLength(4);
  });

  it('cannot read a result that is too large', async () => {
    const large = tool('large', () => 'x'.repeat(300_000));
    const { results } = await play('return (await tools.large({})).length', { tools: [large] });
    expect(results[0]).toContain('has 300000 bytes; a script can read 262144');
    const limits = { ...LIMITS, maxResultBytes: 400_000 };
    expect((await play('return (await tools.large({})).length', { tools: [large], limits })).results).toEqual([
      '300000',
    ]);
  });

  it('waits for all questions of its parallel calls', async () => {
    const ask = tool('ask', (_input, { answer }: ToolContext) => answer?.value ?? suspend({ question: 'Which?' }));
    const { outcome } = await play('return Promise.all([tools.ask({}), tools.ask({}), tools.add({ a: 1, b: 1 })])', {
      tools: [ask, ADD],
    });
    expect(outcome).toMatchObject({
      kind: 'waiting',
      requests: [
        { id: 'input:1:1.1', step: 'tool:1:1.1' },
        { id: 'input:1:1.2', step: 'tool:1:1.2' },
      ],
    });
  });

  it('passes the facts of its calls to the calls after them, and to the model', async () => {
    const seen: boolean[] = [];
    const foreign = tool('foreign', () => 'text', { untrusted: true });
    const probe = tool('probe', (_input, { isTainted }: ToolContext) => void seen.push(isTainted));
    const { outcome } = await play('await tools.probe({}); await tools.foreign({}); await tools.probe({}); return 1', {
      tools: [foreign, probe],
    });
    expect(seen).toEqual([false, true]);
    expect(outcome).toMatchObject({ facts: [{ fact: 'untrusted', step: 'tool:1:1.2', tool: 'foreign' }] });
  });

  it('ends with the run that is cancelled, whose calls are aborted', async () => {
    const stop = new AbortController();
    const slow = tool('slow', (_input, { signal }: ToolContext) => {
      stop.abort(new AppError('RUN_CANCELLED', 'The run was cancelled.'));
      signal.throwIfAborted();
    });
    const run = new MemoryRunContext(ALICE, stop.signal);
    const { outcome } = await play('return tools.slow({})', { tools: [slow] }, run);
    expect(outcome).toMatchObject({ kind: 'ended', finishReason: 'cancelled' });
  });

  it('ends the run with a denied call, if the agent says so', async () => {
    const waiting = { expiresMs: null, onDenied: 'end', onExpired: 'end' } as const;
    const denied = tool('denied', () => {
      throw new ForbiddenException('Not for you.');
    });
    const { outcome } = await play('try { await tools.denied({}) } catch {} return 1', { tools: [denied], waiting });
    expect(outcome).toMatchObject({
      finishReason: 'error',
      failure: {
        code: 'TOOL_DENIED',
        message: expect.stringContaining('run_script" ended the run: its call of "denied": Not for you'),
      },
    });
  });
});

describe('code mode', () => {
  it('leaves agents, tools of the client and the forced tool direct', async () => {
    const child = tool('ask_poet', () => null, {}, { child: { kind: 'agent', name: 'poet', isHandoff: false } });
    const client = tool('local', () => null, { isClient: true });
    const { requests } = await play('return 1', { tools: [ADD, child, client, FAIL], toolChoice: { name: 'fail' } });
    expect(requests[0]!.tools!.map(({ name }) => name)).toEqual(['ask_poet', 'local', 'fail', 'run_script']);
    expect(JSON.stringify(requests[0]!.messages[0])).not.toContain('ask_poet');
  });

  it('offers scripts the deferred tools that a search has found', async () => {
    const tools = ['one', 'two', 'three', 'four'].map((name) => tool(name, () => `did ${name}`));
    const limits = { ...LIMITS, maxTools: 2 };
    const search = calls(['find_tools', { query: 'three' }]);
    const script = calls(['run_script', { script: 'return [await tools.one({}), await tools.three({})]' }]);
    const hidden = calls(['run_script', { script: 'return tools.four({})' }]);
    const { requests, results } = await playReplies(
      [hidden, search, script],
      { tools, limits },
      new MemoryRunContext(ALICE),
    );
    const names = requests.map(({ tools: offered = [] }) => offered.map(({ name }) => name));
    expect(names[0]).toEqual(['find_tools', 'run_script']);
    expect(results[0]).toContain('There is no tool "four" for scripts; there is: one.');
    expect(results[2]).toBe('["did one","did three"]');
    expect(JSON.stringify(requests[2]!.messages[0])).toContain('three(input: {})');
    expect(JSON.stringify(requests[2]!.messages[0])).not.toContain('four(input: {})');
  });

  it('has another name for its tool if the application has one of that name', async () => {
    const own = tool('run_script', () => null);
    const run = new MemoryRunContext(ALICE);
    const { requests } = await playReplies([], { tools: [own, ADD] }, run);
    expect(requests[0]!.tools!.map(({ name }) => name)).toEqual(['run_tool_script']);
  });
});
