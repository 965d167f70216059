import { afterEach, describe, expect, it, vi } from 'vitest';
import { Logger } from '@nestjs/common';
import { toolExecutor } from '../../test/support/tool-parts.js';
import { AppError } from '../errors/index.js';
import type { JsonSchema } from '../kernel/json/index.js';
import { createSchemaInput } from './input/schema-input.factory.js';
import { type PlannedCall, type PolicyDecision, ToolPolicy, ToolPolicyRegistry } from './decision/tool-policy.js';
import { suspend } from './suspension.factory.js';
import { toolResultText } from './result/tool-result.mapper.js';
import { createTool, type ToolDeclaration, type ToolHandler, type ToolReconciler } from './tool.factory.js';
import { callSite } from '../../test/support/call-site.js';
import { pendingTimers } from '../../test/support/pending-timers.js';
import type { CallSite, CheckedCall, Tool, ToolContext, ToolResult } from './tool.types.js';

Logger.overrideLogger(false);
const executor = toolExecutor();
const SCHEMA: JsonSchema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };

const make = (handler: ToolHandler, more: Partial<ToolDeclaration> = {}): Promise<Tool> =>
  createTool(
    { name: 'probe', description: 'For a test.', effect: 'read', source: 'Test.probe', ...more },
    () => createSchemaInput(SCHEMA),
    handler,
  );

const siteOf = (signal?: AbortSignal): CallSite => callSite(signal && { signal });

const plan = async (tool: Tool, args: string): Promise<PlannedCall> =>
  executor.plan({ name: 'probe', arguments: args }, new Map([[tool.definition.name, tool]]), siteOf());

async function invoke(tool: Tool, signal?: AbortSignal, maxResultBytes?: number): Promise<ToolResult> {
  const planned = await plan(tool, '{"n":1}');
  if (planned.kind !== 'run') throw new Error(`It is ${planned.kind}.`);
  const options = maxResultBytes === undefined ? {} : { maxResultBytes };
  const invoked = await executor.invoke(planned, siteOf(signal), options);
  if (invoked.kind !== 'result') throw new Error('It asks a person.');
  return invoked.result;
}

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

describe('plan', () => {
  it('returns the checked input', async () => {
    const tool = await make(() => 1);
    expect(await plan(tool, '{"n":1}')).toEqual({ kind: 'run', tool, input: { n: 1 } });
  });

  it('rejects an unknown tool, naming the available ones', async () => {
    const tools = new Map([
      ['a', await make(() => 1)],
      ['b', await make(() => 1)],
    ]);
    expect(await executor.plan({ name: 'x', arguments: '{}' }, tools, siteOf())).toEqual({
      kind: 'rejected',
      result: {
        tool: 'x',
        success: false,
        code: 'TOOL_NOT_FOUND',
        error: 'Unknown tool "x". Available tools: a, b.',
        execution_time_ms: 0,
      },
    });
  });

  it.each([
    ['{"n":', 'position 5'],
    ['[1]', 'must be a JSON object'],
    ['{}', '"n" is required'],
    ['{"n":"one"}', '"n" must be integer, got string'],
    ['{"n":1,"x":2}', 'unknown argument "x" (known: n)'],
  ])('refuses the arguments %s without calling', async (args, reason) => {
    const handler = vi.fn(() => 1);
    const planned = await plan(await make(handler), args);
    expect(planned).toMatchObject({
      kind: 'rejected',
      result: { success: false, code: 'TOOL_INVALID_ARGUMENTS', error: expect.stringContaining(reason) },
    });
    expect(handler).not.toHaveBeenCalled();
  });

  it('returns an error for a check that throws', async () => {
    const tool = { ...(await make(() => 1)), validate: () => Promise.reject(new Error('broken')) };
    expect(await plan(tool, '{"n":1}')).toMatchObject({ result: { code: 'TOOL_FAILED' } });
  });
});

describe('plan, of a call that may need approval', () => {
  const planWith = async (tool: Tool, policy: ToolPolicy) => {
    const policies = new ToolPolicyRegistry();
    policies.register(policy);
    const call = { name: 'probe', arguments: '{"n":1}' };
    return toolExecutor({ policies }).plan(call, new Map([['probe', tool]]), siteOf());
  };
  class Strict extends ToolPolicy {
    readonly name = 'strict';
    constructor(private readonly says: PolicyDecision) {
      super();
    }
    decide({ input }: CheckedCall): PolicyDecision {
      return (input as { n: number }).n === 1 ? this.says : 'allow';
    }
  }

  it('returns that the call needs approval, and the reason', async () => {
    const tool = await make(() => 1, { approval: 'always' });
    const reason = expect.stringMatching(/needs approval/);
    expect(await plan(tool, '{"n":1}')).toEqual({ kind: 'approval', tool, input: { n: 1 }, reason });
    expect(await planWith(await make(() => 1), new Strict({ approve: 'mind' }))).toMatchObject({ reason: 'mind' });
  });

  it('requests no approval for an invalid call', async () => {
    expect(await plan(await make(() => 1, { approval: 'always' }), '{}')).toMatchObject({ kind: 'rejected' });
  });

  it('returns the result of a call that a policy denies', async () => {
    const planned = await planWith(await make(() => 1, { approval: 'always' }), new Strict({ deny: 'not now' }));
    expect(planned).toMatchObject({ kind: 'rejected', result: { code: 'TOOL_DENIED', error: 'Denied: not now' } });
  });
});

describe('reconcile', () => {
  const reconciled = async (answer: unknown, timeoutMs?: number) => {
    const tool = await make(() => 1, {
      effect: 'once',
      reconcile: () => (typeof answer === 'function' ? (answer as () => unknown)() : answer),
      ...(timeoutMs !== undefined && { timeoutMs }),
    });
    return executor.reconcile(tool, siteOf(), { maxResultBytes: 4 });
  };

  it.each<[unknown, unknown]>([
    [
      { outcome: 'succeeded', result: 7 },
      { kind: 'result', result: { success: true, result: 7 } },
    ],
    [{ outcome: 'succeeded' }, { kind: 'result', result: { success: true, result: null } }],
    [{ outcome: 'succeeded', result: 'abcdef' }, { result: { result: 'abcd… [cut: 4 of 6 bytes shown]' } }],
    [
      { outcome: 'succeeded', result: () => 1 },
      { kind: 'result', result: { success: false, code: 'TOOL_FAILED' } },
    ],
    [
      { outcome: 'failed', error: 'no' },
      { kind: 'result', result: { success: false, error: 'no' } },
    ],
    [() => Promise.resolve({ outcome: 'not_happened' }), { kind: 'not_happened' }],
    [{ outcome: 'unknown' }, { kind: 'unknown' }],
    [{ outcome: 'failed' }, { kind: 'unknown' }],
    [{ outcome: 'perhaps' }, { kind: 'unknown' }],
    ['succeeded', { kind: 'unknown' }],
    [null, { kind: 'unknown' }],
    [() => Promise.reject(new Error('away')), { kind: 'unknown' }],
  ])('converts %o to %o', async (reported, expected) => {
    expect(await reconciled(reported)).toMatchObject(expected as object);
  });

  it('ends at the timeout of the tool, and passes the key', async () => {
    vi.useFakeTimers();
    const pending = reconciled(() => new Promise(() => {}), 50);
    await vi.advanceTimersByTimeAsync(50);
    expect(await pending).toEqual({ kind: 'unknown' });
    const seen = vi.fn<ToolReconciler>(() => ({ outcome: 'unknown' }));
    await executor.reconcile(await make(() => 1, { reconcile: seen }), siteOf());
    expect(seen).toHaveBeenCalledWith('r:tool:1:1', expect.objectContaining({ runId: 'r' }));
  });

  it('returns unknown for a tool without a reconciler', async () => {
    expect(await executor.reconcile(await make(() => 1), siteOf())).toEqual({ kind: 'unknown' });
  });
});

describe('invoke', () => {
  it('returns the result of a synchronous or asynchronous call', async () => {
    const expected = { tool: 'probe', success: true, result: { n: 1 }, execution_time_ms: expect.any(Number) };
    expect(await invoke(await make((input) => input))).toEqual(expected);
    expect(await invoke(await make((input) => Promise.resolve(input)))).toEqual(expected);
    expect(await invoke(await make(() => undefined))).toMatchObject({ result: null });
  });

  it('distinguishes a question from a result that looks like one', async () => {
    const asked = { question: 'Now?' };
    const tool = await make((_input, { answer }) => answer?.value ?? suspend(asked));
    const planned = await plan(tool, '{"n":1}');
    const call = planned as Extract<PlannedCall, { kind: 'run' }>;
    expect(await executor.invoke(call, siteOf())).toEqual({ kind: 'suspended', suspension: asked });
    const answered = { ...siteOf(), answer: { value: { asked }, by: 'ann' } };
    expect(await executor.invoke(call, answered)).toMatchObject({ kind: 'result', result: { result: { asked } } });
  });

  it('passes the context of the run', async () => {
    const handler = vi.fn<ToolHandler>(() => 1);
    await invoke(await make(handler));
    expect(handler).toHaveBeenCalledWith({ n: 1 }, expect.objectContaining({ runId: 'r', key: 'r:tool:1:1' }));
  });

  it.each<[string, ToolHandler]>([
    [
      'throws',
      () => {
        throw new Error('no such city');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no such city'))],
    [
      'throws an error of ours',
      () => {
        throw new AppError('NOT_FOUND', 'no such city');
      },
    ],
  ])('returns an error for a call that %s', async (_case, handler) => {
    const result = await invoke(await make(handler));
    expect(result).toMatchObject({ success: false, code: 'TOOL_FAILED', error: 'no such city' });
    expect(toolResultText(result)).toBe('Error: no such city');
  });

  it('returns an error for a result that JSON cannot represent', async () => {
    expect(await invoke(await make(() => () => 1))).toMatchObject({
      code: 'TOOL_FAILED',
      error: expect.stringContaining('function'),
    });
  });

  it('ends the call at the timeout of the tool, and aborts its signal', async () => {
    vi.useFakeTimers();
    const pendingOf = pendingTimers(4_321);
    const seen: AbortSignal[] = [];
    const never = await make((_input, context) => new Promise(() => void seen.push(context.signal)), {
      timeoutMs: 4_321,
      effect: 'once',
    });
    const pending = invoke(never);
    await vi.advanceTimersByTimeAsync(4_321);
    expect(await pending).toMatchObject({
      code: 'TOOL_TIMEOUT',
      error: 'The tool did not finish within 4321 ms. It may have taken effect all the same.',
    });
    expect(seen[0]?.aborted).toBe(true);
    expect(pendingOf()).toBe(0);
  });

  it('leaves no timer after a call in time', async () => {
    vi.useFakeTimers();
    const pendingOf = pendingTimers(4_321);
    const seen: number[] = [];
    const quick = await make(() => Promise.resolve(void seen.push(pendingOf())), { timeoutMs: 4_321 });
    expect(await invoke(quick)).toMatchObject({ success: true });
    expect([...seen, pendingOf()]).toEqual([1, 0]);
  });

  it.each([undefined, 60_000])('stops at once when the run is cancelled (timeoutMs %o)', async (timeoutMs) => {
    const run = new AbortController();
    const called = Promise.withResolvers<void>();
    const handler = (): Promise<never> => {
      called.resolve();
      return new Promise(() => {});
    };
    const pending = invoke(await make(handler, timeoutMs === undefined ? {} : { timeoutMs }), run.signal);
    await called.promise;
    run.abort();
    expect(await pending).toMatchObject({
      code: 'TOOL_CANCELLED',
      error: 'The call was cancelled before it finished.',
    });
  });

  it('counts a call that obeys the signal as cancelled, and never starts one after a cancel', async () => {
    const run = new AbortController();
    const handler = vi.fn((_input: unknown, context: ToolContext) => {
      run.abort();
      context.signal.throwIfAborted();
    });
    const tool = await make(handler);
    expect(await invoke(tool, run.signal)).toMatchObject({ code: 'TOOL_CANCELLED' });
    expect(await invoke(tool, run.signal)).toMatchObject({ code: 'TOOL_CANCELLED' });
    expect(handler).toHaveBeenCalledTimes(1);
  });

  it('cuts a result that is too long', async () => {
    expect(await invoke(await make(() => 'abcdef'), undefined, 4)).toMatchObject({
      success: true,
      result: 'abcd… [cut: 4 of 6 bytes shown]',
    });
    expect(await invoke(await make(() => ({ text: 'abcdef' })), undefined, 10)).toMatchObject({
      result: '{"text":"a… [cut: 10 of 17 bytes shown]',
    });
    const long = await invoke(await make(() => 'x'.repeat(70_000)));
    expect(toolResultText(long)).toMatch(/^x{65536}… \[cut: 65536 of 70000 bytes shown\]$/);
  });
});
