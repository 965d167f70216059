import { describe, expect, it } from 'vitest';
import { BadRequestException, ForbiddenException, Logger, ServiceUnavailableException } from '@nestjs/common';
import { toolExecutor } from '../../../test/support/tool-parts.js';
import { callSite } from '../../../test/support/call-site.js';
import { AppError } from '../../errors/index.js';
import type { JsonSchema } from '../../kernel/json/index.js';
import { MemoryCache } from '../../cache/index.js';
import { suspend } from '../suspension.factory.js';
import { ToolRegistry } from '../tool.registry.js';
import type { ToolRegistration } from '../tool-registration.types.js';
import type { CallSite, Invoked, Tool } from '../tool.types.js';
import { cachedTool } from './cached-tool.wrapper.js';

Logger.overrideLogger(false);
const executor = toolExecutor();
const PARAMETERS = { type: 'object', properties: { n: { type: 'integer' }, m: { type: 'integer' } } };

function toolOf(registration: Partial<ToolRegistration> & Pick<ToolRegistration, 'handler'>): Tool {
  const registry = new ToolRegistry();
  registry.register({
    name: 'probe',
    description: 'For a test.',
    parameters: PARAMETERS,
    effect: 'read',
    ...registration,
  });
  return registry.get('probe');
}

function invoke(tool: Tool, input: unknown = {}, given: Partial<CallSite> = {}): Promise<Invoked> {
  return executor.invoke({ tool, input }, callSite(given));
}

const tick = () => new Promise((resolve) => setImmediate(resolve));

describe('a tool with retries', () => {
  const failing = (failures: number, error: () => unknown) => {
    let calls = 0;
    const handler = () => {
      if (++calls <= failures) throw error();
      return calls;
    };
    return { handler, calls: () => calls };
  };

  it.each<[string, () => unknown]>([
    ['any failure', () => new Error('away')],
    ['a 503', () => new ServiceUnavailableException()],
    ['an error that may pass', () => new AppError('TOOL_FAILED', 'away', { isRetryable: true })],
  ])('is called again after %s', async (_case, error) => {
    const { handler, calls } = failing(2, error);
    expect(await invoke(toolOf({ handler, retries: 2 }))).toMatchObject({ result: { success: true, result: 3 } });
    expect(calls()).toBe(3);
  });

  it.each([408, 429, 500, 503])('is called again after a returned response with the status %i', async (status) => {
    let calls = 0;
    const handler = () => new Response('body', { status: ++calls === 1 ? status : 200 });
    expect(await invoke(toolOf({ handler, retries: 1 }))).toMatchObject({ result: { success: true, result: 'body' } });
    expect(calls).toBe(2);
  });

  it('is called again after a returned stream that fails', async () => {
    let calls = 0;
    const handler = async function* () {
      yield 1;
      if (++calls === 1) throw new Error('the connection is lost');
    };
    expect(await invoke(toolOf({ handler, retries: 1 }))).toMatchObject({ result: { success: true, result: [1] } });
  });

  it.each([400, 404, 501])('fails with the status and the body of a returned response: %i', async (status) => {
    let calls = 0;
    const handler = () => (calls++, new Response('no such page', { status }));
    expect(await invoke(toolOf({ handler, retries: 1 }))).toMatchObject({
      result: { code: 'TOOL_FAILED', error: `HTTP ${status}: no such page` },
    });
    expect(calls).toBe(status < 500 ? 1 : 2);
  });

  it('fails with the last failure when none of the calls succeeded', async () => {
    const { handler, calls } = failing(9, () => new Error('away'));
    expect(await invoke(toolOf({ handler, retries: 1 }))).toMatchObject({
      result: { code: 'TOOL_FAILED', error: 'away' },
    });
    expect(calls()).toBe(2);
  });

  it.each<[string, () => unknown]>([
    ['a denial', () => new ForbiddenException()],
    ['a wrong call', () => new BadRequestException()],
    ['an error that will not pass', () => new AppError('TOOL_FAILED', 'never')],
  ])('is not called again after %s', async (_case, error) => {
    const { handler, calls } = failing(9, error);
    expect(await invoke(toolOf({ handler, retries: 5 }))).toMatchObject({ result: { success: false } });
    expect(calls()).toBe(1);
  });

  it('stops retrying when the run is cancelled or the call times out', async () => {
    const stop = new AbortController();
    const tool = toolOf({ handler: () => (stop.abort(), Promise.reject(new Error('away'))), retries: 10 });
    expect(await invoke(tool, {}, { signal: stop.signal })).toMatchObject({ result: { code: 'TOOL_CANCELLED' } });
    const { handler } = failing(99, () => new Error('away'));
    const slow = toolOf({ handler, retries: 10, timeoutMs: 30 });
    expect(await invoke(slow)).toMatchObject({ result: { code: expect.stringMatching(/TOOL_TIMEOUT|TOOL_FAILED/) } });
  });
});

describe('a tool whose results are cached', () => {
  const counting = (more: Partial<ToolRegistration> = {}) => {
    let calls = 0;
    const handler = (args: object) => ({ call: ++calls, ...args });
    return toolOf({ handler, cacheTtlMs: 60_000, ...more });
  };
  const principal = { id: 'ann', tenant: 'acme', roles: ['user'] };

  it('returns the cached result to the same principal, for any order of the arguments', async () => {
    const tool = counting();
    const first = await invoke(tool, { n: 1, m: 2 }, { principal });
    expect(first).toMatchObject({ result: { success: true, result: { call: 1, n: 1, m: 2 } } });
    expect(await invoke(tool, { m: 2, n: 1 }, { principal })).toMatchObject({ result: { result: { call: 1 } } });
    expect(await invoke(tool, { n: 2 }, { principal })).toMatchObject({ result: { result: { call: 2 } } });
  });

  it('returns no result of another principal', async () => {
    const tool = counting();
    for (const [index, other] of [
      principal,
      { ...principal, tenant: 'x' },
      { ...principal, id: 'bob' },
      { ...principal, roles: [] },
    ].entries()) {
      expect(await invoke(tool, {}, { principal: other })).toMatchObject({ result: { result: { call: index + 1 } } });
    }
  });

  it('is called again after the TTL, a failure or a question', async () => {
    const short = counting({ cacheTtlMs: 1 });
    await invoke(short);
    const until = performance.now() + 5;
    while (performance.now() < until) await tick();
    expect(await invoke(short)).toMatchObject({ result: { result: { call: 2 } } });
    let calls = 0;
    const moody = toolOf({
      cacheTtlMs: 60_000,
      handler: () => {
        if (++calls === 1) throw new Error('away');
        return calls === 2 ? suspend({ question: 'sure?' }) : calls;
      },
    });
    expect(await invoke(moody)).toMatchObject({ result: { success: false } });
    expect(await invoke(moody)).toMatchObject({ kind: 'suspended' });
    expect(await invoke(moody)).toMatchObject({ result: { result: 3 } });
  });
});

describe('the cache of a tool', () => {
  const output = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
  const numbered = (cache: MemoryCache, results: readonly unknown[], schema: JsonSchema = output) => {
    let calls = 0;
    const tool = toolOf({ handler: () => results[calls++], output: schema });
    return cachedTool(tool, 60_000, cache);
  };
  const cacheOf = () => new MemoryCache(60_000, 1_000_000);

  it('stores no result that the output schema of the tool refuses', async () => {
    const tool = numbered(cacheOf(), [{ n: 'one' }, { n: 2 }, { n: 3 }]);
    expect(await invoke(tool)).toMatchObject({ result: { code: 'TOOL_INVALID_RESULT' } });
    for (let call = 0; call < 2; call++) expect(await invoke(tool)).toMatchObject({ result: { result: { n: 2 } } });
  });

  it('ignores an entry that the current output schema refuses, or that is damaged', async () => {
    const cache = cacheOf();
    await invoke(numbered(cache, [{ n: 1 }]));
    const next = numbered(cache, [{ n: 'two' }], { ...output, properties: { n: { type: 'string' } } });
    for (let call = 0; call < 2; call++) expect(await invoke(next)).toMatchObject({ result: { result: { n: 'two' } } });
    for (const entry of ['', '{', 'null', '7', '{}']) {
      const damaged = Object.assign(cacheOf(), { get: async () => entry });
      expect(await invoke(numbered(damaged, [{ n: 4 }]))).toMatchObject({ result: { result: { n: 4 } } });
    }
  });
});

describe('a tool with limited concurrency', () => {
  it('limits simultaneous calls, queues the others, and releases cancelled ones', async () => {
    let running = 0;
    let most = 0;
    const ends: (() => void)[] = [];
    const handler = async ({ n }: { n: number }) => {
      most = Math.max(most, ++running);
      await new Promise<void>((resolve) => ends.push(resolve));
      running--;
      return n;
    };
    const tool = toolOf({ handler, concurrency: 2 });
    const impatient = new AbortController();
    const calls = [0, 1, 2, 3].map((n) => invoke(tool, { n }, n === 2 ? { signal: impatient.signal } : {}));
    await tick();
    expect(ends).toHaveLength(2);
    impatient.abort();
    expect(await calls[2]).toMatchObject({ result: { code: 'TOOL_CANCELLED' } });
    ends[0]!();
    while (ends.length < 3) await tick();
    ends.forEach((end) => end());
    const results = await Promise.all([calls[0]!, calls[1]!, calls[3]!]);
    expect(results.map((one) => one.kind === 'result' && one.result)).toMatchObject([
      { result: 0 },
      { result: 1 },
      { result: 3 },
    ]);
    expect(most).toBe(2);
  });
});

describe('a tool without wrappers', () => {
  it('is returned unchanged', () => {
    const tool = toolOf({ handler: () => 1 });
    const registry = new ToolRegistry();
    registry.register(tool);
    expect(registry.get('probe')).toBe(tool);
  });
});

describe('invalid tool handling', () => {
  it.each<[Partial<ToolRegistration>, RegExp]>([
    [{ effect: 'once', retries: 1 }, /retries.*never repeated/],
    [{ retries: 11 }, /retries are 11: use a whole number from 0 to 10/],
    [{ retries: -1 }, /retries are -1/],
    [{ effect: 'idempotent', cacheTtlMs: 5 }, /cacheTtlMs.*only results of the effect "read"/],
    [{ cacheTtlMs: 0 }, /cacheTtlMs is 0/],
    [{ concurrency: 0 }, /concurrency is 0/],
    [{ egress: 'yes' as never }, /egress is "yes"/],
    [{ untrusted: 1 as never }, /untrusted is 1/],
    [{ resources: [''] }, /resources are neither/],
    [{ output: { type: 'nonsense' } }, /its output is not a JSON Schema/],
  ])('is rejected: %j', (handling, message) => {
    expect(() => toolOf({ handler: () => 1, ...handling })).toThrow(message);
  });
});

describe('a tool with an output schema', () => {
  const output = { type: 'object', properties: { total: { type: 'number' } }, required: ['total'] };

  it('must return results that match it', async () => {
    expect(await invoke(toolOf({ handler: () => ({ total: 1 }), output }))).toMatchObject({
      result: { success: true },
    });
    expect(await invoke(toolOf({ handler: () => ({ total: '1' }), output }))).toMatchObject({
      result: {
        success: false,
        code: 'TOOL_INVALID_RESULT',
        error: expect.stringContaining('"result.total" must be number, got string'),
      },
    });
  });

  it('includes it in its definition', () => {
    expect(toolOf({ handler: () => 1, output }).definition.outputSchema).toEqual(output);
  });
});

describe('a result over the limit', () => {
  it('is cut for the model, and also returned whole', async () => {
    const tool = toolOf({ handler: () => ({ text: 'x'.repeat(100) }) });
    const invoked = await executor.invoke({ tool, input: {} }, callSite(), { maxResultBytes: 20 });
    expect(invoked).toMatchObject({
      result: {
        success: true,
        result: expect.stringMatching(/^\{"text":"x+… \[cut: 20 of 111 bytes shown\]$/),
        result_bytes: 111,
      },
      whole: { text: 'x'.repeat(100) },
    });
  });

  it('is cut in the whole copy, too, beyond 4 MiB', async () => {
    const tool = toolOf({ handler: () => 'x'.repeat(5_000_000) });
    const invoked = await executor.invoke({ tool, input: {} }, callSite(), { maxResultBytes: 20 });
    expect(invoked.kind === 'result' && invoked.whole).toMatch(/\[cut: 4194304 of 5000000 bytes shown\]$/);
  });
});
