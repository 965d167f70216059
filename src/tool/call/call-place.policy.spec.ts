import { describe, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { toolExecutor } from '../../../test/support/tool-parts.js';
import { callSite } from '../../../test/support/call-site.js';
import { ToolRegistry } from '../tool.registry.js';
import type { ToolRegistration } from '../tool-registration.types.js';
import type { CallSite, ToolResult } from '../tool.types.js';

Logger.overrideLogger(false);
const executor = toolExecutor();
const tick = () => new Promise((resolve) => setImmediate(resolve));

/** A tool with one slot. The test ends each call. */
function worldOf(more: Partial<ToolRegistration> = {}) {
  const registry = new ToolRegistry();
  const ends: (() => void)[] = [];
  const handler = (args: object) => {
    const { n } = args as { n: number };
    return new Promise<number>((resolve) => ends.push(() => resolve(n)));
  };
  const parameters = { type: 'object', properties: { n: { type: 'integer' } } };
  registry.register({ name: 'probe', description: 'For a test.', parameters, handler, concurrency: 1, ...more });
  const tool = registry.get('probe');
  const call = async (n: number, given: Partial<CallSite> = {}): Promise<ToolResult> => {
    const invoked = await executor.invoke({ tool, input: { n } }, callSite(given));
    if (invoked.kind !== 'result') throw new Error(invoked.kind);
    return invoked.result;
  };
  const direct = (n: number, signal?: AbortSignal) => registry.call('probe', { n }, signal ? { signal } : {});
  return { ends, call, direct };
}

describe('a call of a tool with a concurrency', () => {
  it('starts its timeoutMs when its code starts, and holds its slot until its code ends', async () => {
    const { ends, call } = worldOf({ timeoutMs: 500, effect: 'read' });
    const [first, second] = [call(1), call(2)];
    expect(await first).toMatchObject({ code: 'TOOL_TIMEOUT', error: 'The tool did not finish within 500 ms.' });
    await tick();
    // The code of the first call ignores its signal and still has the slot.
    expect(ends).toHaveLength(1);
    ends[0]!();
    while (ends.length < 2) await tick();
    ends[1]!();
    expect(await second).toMatchObject({ success: true, result: 2 });
  });

  it.each(['read', 'idempotent', 'once'] as const)(
    'ends unexecuted when no slot becomes free in time: effect %s',
    async (effect) => {
      const { ends, call } = worldOf({ queueTimeoutMs: 5, effect });
      const first = call(1);
      expect(await call(2)).toMatchObject({
        code: 'TOOL_TIMEOUT',
        error:
          'Not executed: the call did not start within 5 ms (`queueTimeoutMs`), because earlier calls have not ended.',
      });
      expect(ends).toHaveLength(1);
      ends[0]!();
      expect(await first).toMatchObject({ result: 1 });
      const third = call(3);
      await tick();
      ends[1]!();
      expect(await third).toMatchObject({ result: 3 });
    },
  );

  it('does not start after a cancel, and reports that', async () => {
    const { ends, call } = worldOf({ effect: 'once' });
    const stop = new AbortController();
    const [first, second] = [call(1, { signal: stop.signal }), call(2, { signal: stop.signal })];
    await tick();
    stop.abort();
    expect(await first).toMatchObject({
      code: 'TOOL_CANCELLED',
      error: 'The call was cancelled before it finished. It may have taken effect all the same.',
    });
    expect(await second).toMatchObject({
      code: 'TOOL_CANCELLED',
      error: 'Not executed: the call was cancelled before it started.',
    });
    expect(ends).toHaveLength(1);
  });

  it('returns the cached result while all slots are taken', async () => {
    const { ends, call } = worldOf({ effect: 'read', cacheTtlMs: 60_000 });
    const first = call(1);
    await tick();
    ends[0]!();
    await first;
    const slow = call(2);
    await tick();
    expect(await call(1)).toMatchObject({ result: 1 });
    ends[1]!();
    expect(await slow).toMatchObject({ result: 2 });
  });

  it('also waits for a slot outside of a run', async () => {
    const { ends, direct } = worldOf({ queueTimeoutMs: 5 });
    const first = direct(1);
    await expect(direct(2)).rejects.toMatchObject({ code: 'TOOL_TIMEOUT', message: /"probe": Not executed/ });
    const stop = new AbortController();
    const third = direct(3, stop.signal);
    stop.abort();
    await expect(third).rejects.toMatchObject({ code: 'TOOL_CANCELLED', message: /Not executed/ });
    expect(ends).toHaveLength(1);
    ends[0]!();
    expect(await first).toBe(1);
  });
});

describe('a queueTimeoutMs', () => {
  it.each<[Partial<ToolRegistration>, RegExp]>([
    [{ queueTimeoutMs: 0 }, /queueTimeoutMs is 0: use whole milliseconds/],
    [{ queueTimeoutMs: 5, concurrency: undefined }, /its calls never wait/],
  ])('is refused when it has no effect: %j', (handling, message) => {
    expect(() => worldOf(handling)).toThrow(message);
  });

  it.each<Partial<ToolRegistration>>([{ resources: ['r'] }, { stateful: true }])('is accepted with %j', (handling) => {
    const { concurrency: _concurrency, ...rest } = { concurrency: 1, ...handling };
    const registry = new ToolRegistry();
    registry.register({ name: 'probe', description: 'd', handler: () => 1, queueTimeoutMs: 5, ...rest });
    expect(registry.get('probe').metadata.queueTimeoutMs).toBe(5);
  });
});
