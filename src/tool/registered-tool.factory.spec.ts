import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Parameter } from './input/parameter.builder.js';
import { suspend } from './suspension.factory.js';
import type { ToolRegistration } from './tool-registration.types.js';
import { ToolRegistry } from './tool.registry.js';
import type { ToolContext } from './tool.types.js';

const double: ToolRegistration = {
  name: 'double',
  description: 'Doubles a number.',
  parameters: [Parameter.integer('n').min(0).required(), Parameter.integer('times').default(2)],
  handler: ({ n, times }: { n: number; times: number }) => n * times,
};

function registryOf(...registrations: Partial<ToolRegistration>[]): ToolRegistry {
  const registry = new ToolRegistry();
  for (const registration of registrations) registry.register({ ...double, ...registration });
  return registry;
}

const coded = (code: string, message: string) =>
  expect.objectContaining({ code, message: expect.stringContaining(message) });

describe('a tool registered at run time', () => {
  it('is available at once, can be called, and can be unregistered', async () => {
    const registry = registryOf({ effect: 'read', timeoutMs: 500 });
    expect(registry.get('double')).toMatchObject({
      definition: { name: 'double', inputSchema: { required: ['n'], additionalProperties: false } },
      metadata: { effect: 'read', timeoutMs: 500 },
    });
    expect(await registry.call('double', { n: 4 })).toBe(8);
    expect(registry.unregister('double')).toBe(true);
    expect(registry.has('double')).toBe(false);
    await expect(registry.call('double', { n: 4 })).rejects.toThrow(coded('TOOL_NOT_FOUND', '"double"'));
  });

  it('accepts a JSON Schema, a Standard Schema, or no parameters', async () => {
    const registry = registryOf(
      { name: 'json', parameters: { type: 'object', properties: { n: { type: 'number' } } } },
      { name: 'zod', parameters: z.object({ n: z.number(), times: z.number().default(5) }) },
      { name: 'bare', parameters: [], handler: () => 'here' },
    );
    await expect(registry.call('json', { m: 1 })).rejects.toThrow(
      coded('TOOL_INVALID_ARGUMENTS', 'unknown argument "m"'),
    );
    expect(await registry.call('zod', { n: 2 })).toBe(10);
    expect(await registry.call('bare')).toBe('here');
    expect(registry.get('bare').metadata.effect).toBe('once');
  });

  it.each([
    [{}, '"n" is required'],
    [{ n: -1 }, '"n" must be >= 0'],
    [{ n: 'four' }, '"n" must be integer, got string'],
    [{ n: 1, m: 2 }, 'unknown argument "m"'],
  ])('refuses the arguments %j', async (args, reason) => {
    await expect(registryOf({}).call('double', args)).rejects.toThrow(coded('TOOL_INVALID_ARGUMENTS', reason));
  });

  it('retains the cause of a failure', async () => {
    const cause = new Error('no connection');
    const registry = registryOf({ handler: () => Promise.reject(cause) });
    await expect(registry.call('double', { n: 1 })).rejects.toThrow(
      expect.objectContaining({ code: 'TOOL_FAILED', message: 'Tool "double" failed: no connection', cause }),
    );
  });

  it('is abandoned at its timeout, and when the caller cancels', async () => {
    const registry = registryOf({ timeoutMs: 1, handler: () => new Promise(() => undefined) });
    await expect(registry.call('double', { n: 1 })).rejects.toThrow(coded('TOOL_TIMEOUT', 'within 1 ms'));
    const signal = AbortSignal.abort();
    await expect(registry.call('double', { n: 1 }, { signal })).rejects.toThrow(coded('TOOL_CANCELLED', 'cancelled'));
  });

  it('receives a complete context with the principal of the caller', async () => {
    const registry = registryOf({ handler: (_args: unknown, context: ToolContext) => context });
    const principal = { id: 'ann', tenant: 'acme', roles: [] };
    expect(await registry.call('double', { n: 1 }, { principal })).toMatchObject({
      tool: 'double',
      arguments: { n: 1 },
      principal,
      agent: null,
      sessionId: null,
      runId: expect.any(String),
      callId: expect.any(String),
      key: expect.any(String),
      signal: expect.any(AbortSignal),
    });
  });

  it('needs no approval in a direct call, and cannot wait for an answer', async () => {
    const registry = registryOf({ approval: 'always' });
    expect(await registry.call('double', { n: 2 })).toBe(4);
    const asking = registryOf({ handler: () => suspend({ question: 'Now?' }) });
    await expect(asking.call('double', { n: 2 })).rejects.toThrow(coded('TOOL_FAILED', 'asks a person'));
  });

  it('retains its approval and its reconciler', () => {
    const approval = () => true;
    const registry = registryOf({ approval, reconcile: () => 'out' });
    expect(registry.get('double').metadata.approval).toBe(approval);
    expect(registry.get('double').reconcile?.('k', {} as ToolContext)).toBe('out');
  });

  it('is rejected when the name is taken, naming both sources', () => {
    const registry = registryOf({ source: 'billing.js' });
    expect(() => registry.register({ ...double, source: 'shop.js' })).toThrow(
      coded('TOOL_DUPLICATE', '"double": billing.js and shop.js'),
    );
    expect(() => registryOf({}, {})).toThrow(coded('TOOL_DUPLICATE', 'unregister the first'));
  });

  it.each([
    [{ name: 'finish' }, 'reserved'],
    [{ description: ' ' }, 'no description'],
    [{ handler: undefined }, 'no handler'],
    [{ params: {} }, 'unknown params (known: name'],
    [{ parameters: { type: 'string' } }, 'does not describe an object'],
    [{ parameters: [Parameter.string('a'), Parameter.string('a')] }, 'named "a"'],
    [{ timeoutMs: 0 }, 'timeoutMs is 0'],
    [{ approval: true }, 'approval is true: use "never", "always", a function'],
    [{ reconcile: 'findOut' }, 'reconcile is not a function'],
    [{ stateParameterName: 'memory' }, 'it has a stateParameterName and keeps no state'],
    [{ stateInjection: true }, 'it has a stateInjection and keeps no state'],
    [{ stateful: true, stateInjection: 'yes' }, 'its stateInjection is "yes"'],
    [{ stateful: true, stateInjection: false, stateParameterName: 'x' }, 'stateParameterName has no effect without'],
    [{ stateful: true, stateParameterName: '' }, 'its stateParameterName is ""'],
    [{ stateful: true, stateParameterName: 'n' }, 'its parameters have "n", where its state would be'],
    [
      { stateful: true, parameters: [Parameter.string('state')] },
      'its parameters have "state", where its state would be',
    ],
  ])('is refused for %j', (wrong, reason) => {
    expect(() => registryOf(wrong as Partial<ToolRegistration>)).toThrow(coded('TOOL_INVALID', reason));
  });
});
