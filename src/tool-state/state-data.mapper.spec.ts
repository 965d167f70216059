import { describe, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { toolExecutor } from '../../test/support/tool-parts.js';
import { callSite } from '../../test/support/call-site.js';
import { ToolRegistry, type ToolResult } from '../tool/index.js';
import type { ToolContext } from '../tool/method/index.js';
import { type StateData, toStateData } from '../tool/stateful/index.js';
import { ToolStates } from './tool-states.js';

Logger.overrideLogger(false);

class Item {
  constructor(readonly name: string) {}
}

const looped: Record<string, unknown> = {};
looped['self'] = looped;

const LOST: [string, unknown, RegExp][] = [
  ['a Map', new Map([['a', 1]]), /is a Map, which JSON cannot hold: use a plain object/],
  ['a Set', new Set([1]), /is a Set, .*use an array/],
  ['a class of a Map', new (class Basket extends Map {})(), /is a Map/],
  ['a WeakMap', new WeakMap(), /is a WeakMap/],
  ['a bigint', 1n, /is a bigint, .*string of digits/],
  ['a function', () => 1, /is a function/],
  ['a symbol', Symbol('s'), /is a symbol/],
  ['a regular expression', /a/, /is a RegExp/],
  ['an error', new Error('e'), /is a Error/],
  ['a promise', Promise.resolve(1), /is a Promise/],
  ['bytes', new Uint8Array([1]), /is a Uint8Array/],
  ['NaN', Number.NaN, /is a NaN, .*use null/],
  ['an infinite number', Number.POSITIVE_INFINITY, /is a Infinity/],
];

describe('a state with a value that JSON would lose', () => {
  it.each(LOST)('is refused with the place of %s', (_name, value, message) => {
    expect(() => toStateData({ value })).toThrow(message);
    expect(() => toStateData({ value })).toThrow(/^state\.value is/);
    expect(() => toStateData({ list: [{ deep: value }] })).toThrow(/^state\.list\[0\]\.deep is/);
    expect(() => toStateData(value)).toThrow(TypeError);
  });

  it('is refused when it refers to itself', () => {
    expect(() => toStateData(looped)).toThrow(TypeError);
  });

  it.each([[null], [undefined], [1], ['text'], [[1]]])('is refused when it is no object: %j', (value) => {
    expect(() => toStateData(value)).toThrow('A state is a JSON object.');
  });
});

describe('a state that JSON can represent', () => {
  it.each<[string, unknown, StateData]>([
    ['plain values', { a: [1, 'b', true, null, { c: -0.5 }] }, { a: [1, 'b', true, null, { c: -0.5 }] }],
    ['an object without a prototype', Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
    ['the fields of an object of a class', { item: new Item('cup') }, { item: { name: 'cup' } }],
    ['what toJSON gives', { at: new Date(0) }, { at: '1970-01-01T00:00:00.000Z' }],
    ['no undefined property', { a: undefined, b: 1 }, { b: 1 }],
  ])('is stored: %s', (_name, value, data) => {
    expect(toStateData(value)).toEqual(data);
  });
});

/** Calls a stateful tool once, in its own session. */
async function call(
  method: (context: ToolContext) => unknown,
  { signal, ...more }: { timeoutMs?: number; signal?: AbortSignal; initial?: () => never } = {},
): Promise<{ result: ToolResult; data: () => Promise<StateData | undefined> }> {
  const states = ToolStates.inMemory();
  const registry = new ToolRegistry();
  const { initial, ...handling } = more;
  const stateful = initial ? { initial } : true;
  const handler = (_args: unknown, context: ToolContext) => method(context);
  registry.register({ name: 'note', description: 'd', handler, effect: 'read', stateful, ...handling });
  const tool = registry.get('note');
  const site = callSite({ sessionId: 's', ...(signal && { signal }) });
  const invoked = await toolExecutor({ states }).invoke({ tool, input: {} }, site);
  if (invoked.kind !== 'result') throw new Error(invoked.kind);
  await invoked.storedState?.companion.alone();
  const data = async () =>
    (await (await states.managerOf(tool)).getState(states.contextIdOf(tool, site), 'business'))?.data;
  return { result: invoked.result, data };
}

describe('a call that puts a Map into its state', () => {
  const map = new Map([['a', 1]]);
  it.each<[string, (context: ToolContext) => unknown]>([
    ['update()', ({ state }) => state!.update({ cart: map } as never)],
    ['update() with a Map of keys', ({ state }) => state!.update(map as never)],
    ['update() with a function', ({ state }) => state!.update(() => ({ list: [map] }) as never)],
    ['update() with a function that gives nothing', ({ state }) => state!.update((() => undefined) as never)],
    ['replace()', ({ state }) => state!.replace({ cart: map } as never)],
    ['set()', ({ state }) => state!.set('session', { cart: map } as never)],
    ['its result', () => ({ ok: true, state: { cart: map } })],
  ])('fails with %s, and leaves the state unchanged', async (_name, method) => {
    const { result, data } = await call(method);
    expect(result).toMatchObject({ success: false, error: expect.stringMatching(/Map|not a Undefined/) });
    expect(await data()).toBeUndefined();
  });

  it('fails with an initial state', async () => {
    expect((await call(() => 1, { initial: () => ({ cart: map }) as never })).result).toMatchObject({
      success: false,
      error: expect.stringMatching(/state\.cart is a Map/),
    });
    const stateful = { initial: { cart: map } } as never;
    const register = () => new ToolRegistry().register({ name: 'n', description: 'd', handler: () => 1, stateful });
    expect(register).toThrow(/state\.cart is a Map/);
  });
});

describe('a state after the end of its call', () => {
  const CHANGES: [string, (state: NonNullable<ToolContext['state']>) => void][] = [
    ['save', (state) => state.save()],
    ['update', (state) => state.update({ late: 1 })],
    ['replace', (state) => state.replace({ late: 1 })],
    ['set', (state) => state.set('session', { late: 1 })],
  ];

  /** Starts a change in a call and completes it after the call's end. */
  async function lateChange(change: (typeof CHANGES)[number][1], how: 'time-out' | 'cancel' | 'end') {
    const stop = new AbortController();
    const late = Promise.withResolvers<unknown>();
    const ended = Promise.withResolvers<void>();
    const method = async ({ state }: ToolContext) => {
      state!.update({ kept: 1 });
      state!.save();
      const changeLater = async (): Promise<void> => {
        await ended.promise;
        change(state!);
      };
      changeLater().then(() => late.resolve('no error'), late.resolve);
      if (how === 'end') return 1;
      if (how === 'cancel') stop.abort();
      return new Promise(() => undefined);
    };
    const called = await call(method, { signal: stop.signal, ...(how === 'time-out' && { timeoutMs: 5 }) });
    ended.resolve();
    return { error: await late.promise, data: await called.data() };
  }

  it.each(
    CHANGES.flatMap(([name, change]) =>
      (['time-out', 'cancel', 'end'] as const).map((how) => [name, how, change] as const),
    ),
  )('refuses %s() after the %s of the call', async (name, how, change) => {
    const { error, data } = await lateChange(change, how);
    const code = { 'time-out': 'TOOL_TIMEOUT', cancel: 'TOOL_CANCELLED', end: 'TOOL_FAILED' }[how];
    expect(error).toMatchObject({ code, message: expect.stringContaining(`state.${name}() came after the ${how}`) });
    expect(data).toEqual({ kept: 1 });
  });

  it('refuses save() in a listener of the signal', async () => {
    const late = Promise.withResolvers<unknown>();
    await call(
      ({ state, signal }) => {
        signal.addEventListener('abort', () => {
          try {
            late.resolve(state!.save());
          } catch (error) {
            late.resolve(error);
          }
        });
        return new Promise(() => undefined);
      },
      { timeoutMs: 5 },
    );
    expect(await late.promise).toMatchObject({ code: 'TOOL_TIMEOUT' });
  });
});
