import { describe, expect, it } from 'vitest';
import { toolExecutor } from '../../test/support/tool-parts.js';
import { type ToolRegistration, ToolRegistry } from '../tool/index.js';
import { createCallSite } from '../tool/call/index.js';
import type { Tool } from '../tool/method/index.js';
import { withImages } from '../tool/result/index.js';
import { MemoryStateStore, StateBackendRegistry, VolatileStateBackend } from './state-backend.registry.js';
import type { RecordedCall } from './recorded-call.js';
import { ToolStates } from './tool-states.js';
import { backendParts } from '../../test/support/state-backends.js';

const site = () => createCallSite({ sessionId: 's' });
const TOOL = registered({ name: 'crm', description: 'Asks.', stateful: true, handler: () => 1 });

function registered(registration: ToolRegistration): Tool {
  const tools = new ToolRegistry();
  tools.register(registration);
  return tools.get(registration.name);
}

it('an untrusted result with a state property does not change the state of its tool', async () => {
  const states = ToolStates.inMemory();
  const tool = { ...TOOL, metadata: { ...TOOL.metadata, isReturnForeign: true } };
  const returned = { city: 'Albany', state: 'NY' };
  expect(await states.callAlone(tool, {}, site(), async () => returned)).toEqual(returned);
  await expect(states.callAlone(TOOL, {}, site(), async () => returned)).rejects.toThrow('not a JSON object');
});

it('a result with images updates the state of its tool like a result without images', async () => {
  const handler = () => withImages({ n: 1, state: { seen: 2 } }, ['https://a.example/b.png']);
  const tool = registered({ name: 'plot', description: 'Plots.', stateful: true, handler });
  const executor = toolExecutor({ states: ToolStates.inMemory() });
  const invoked = await executor.invoke({ tool, input: {} }, site());
  if (invoked.kind !== 'result') throw new Error(invoked.kind);
  expect(invoked.result).toMatchObject({ result: { n: 1 }, images: ['https://a.example/b.png'] });
  expect(invoked.storedState?.changed).toMatchObject({ data: { seen: 2 } });
});

/** A store whose writes all fail. */
class FullStore extends MemoryStateStore {
  override async write(): Promise<boolean> {
    throw new Error('the disk is full');
  }
}

class FullBackends extends StateBackendRegistry {
  private readonly full = new VolatileStateBackend('memory', new FullStore());

  override async of(): Promise<VolatileStateBackend> {
    return this.full;
  }
}

it('the state of a call without a session is never stored', async () => {
  const states = new ToolStates(new FullBackends(...backendParts()));
  const call = (sessionId: string | null, work: () => unknown) =>
    states.callAlone(TOOL, {}, createCallSite({ sessionId }), async (held) => {
      held.handle.update({ count: 1 });
      return work();
    });
  const fail = () => {
    throw new Error('403');
  };
  expect(await call(null, () => 'done')).toBe('done');
  await expect(call(null, fail)).rejects.toThrow('403');
  await expect(call('s', () => 'done')).rejects.toThrow('the disk is full');
});

describe('the held values of a connection', () => {
  const states = ToolStates.inMemory();
  const call = (work: (held: RecordedCall) => unknown) =>
    states.callAlone(TOOL, {}, site(), async (held) => work(held as RecordedCall));
  const held = async () => ((await states.open(TOOL, {}, site())) as RecordedCall).handle.held;

  it('are merged into the earlier values for the next call', async () => {
    await call(({ handle }) => handle.hold({ 'cookie:a': 'one', 'cookie:b': 'two' }));
    await call(({ handle }) => {
      expect(handle.held).toEqual({ 'cookie:a': 'one', 'cookie:b': 'two' });
      handle.hold({ 'cookie:a': null });
      handle.hold({ 'cookie:c': 'three' });
    });
    expect(await held()).toEqual({ 'cookie:b': 'two', 'cookie:c': 'three' });
  });

  it('are stored even if the call fails', async () => {
    const failing = call(({ handle }) => {
      handle.hold({ 'cookie:d': 'four' });
      throw new Error('403');
    });
    await expect(failing).rejects.toThrow('403');
    expect(await held()).toMatchObject({ 'cookie:d': 'four' });
  });

  it('are hidden from readers of the state, and survive its changes', async () => {
    const manager = await states.managerOf(TOOL);
    const { contextId } = (await states.open(TOOL, {}, site())).handle;
    const before = await held();
    const shown = await manager.getState(contextId, 'connection');
    expect(shown!.data).toMatchObject({ session_active: true });
    const changed = await manager.updateState(contextId, 'connection', (data) => {
      expect(JSON.stringify(data)).not.toContain('four');
      return { note: 'x' };
    });
    const replaced = await manager.setState(contextId, 'connection', { session_active: false });
    expect(JSON.stringify([shown, changed, replaced])).not.toContain('four');
    expect(await held()).toEqual(before);
  });
});
