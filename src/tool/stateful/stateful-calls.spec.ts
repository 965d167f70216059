import { expect, it } from 'vitest';
import { toolExecutor } from '../../../test/support/tool-parts.js';
import { callSite } from '../../../test/support/call-site.js';
import { ToolRegistry } from '../tool.registry.js';
import { StatefulCalls } from './stateful-calls.js';

class ListedStates extends StatefulCalls {
  readonly listeners: ((contextId: string) => void)[] = [];
  open = async (): Promise<never> => Promise.reject(new Error('unused'));
  replayed = async (): Promise<void> => undefined;
  callAlone = async (): Promise<unknown> => 'stored';
  cleanup = async (): Promise<boolean> => true;
  onClosed(listener: (contextId: string) => void): () => void {
    this.listeners.push(listener);
    return () => undefined;
  }
}

function registryWith(holder?: { release(id: string): void; releaseAll(): Promise<void> }): ToolRegistry {
  const tools = new ToolRegistry();
  const handler = () => 1;
  tools.register({ name: 'note', description: 'Notes.', stateful: true, handler, ...(holder && { holder }) });
  return tools;
}

it('a stateful call without a storage of states fails, and names the tool', async () => {
  const failure = { code: 'TOOL_STATE_UNAVAILABLE', message: expect.stringContaining('"note"') };
  const tools = registryWith();
  await expect(tools.call('note')).rejects.toMatchObject(failure);
  const invoked = await toolExecutor().invoke({ tool: tools.get('note'), input: {} }, callSite());
  expect(invoked).toMatchObject({ result: { success: false, code: 'TOOL_STATE_UNAVAILABLE' } });
});

it('a registry outside of an application takes one storage, and releases the instances of closed contexts', async () => {
  const released: string[] = [];
  const tools = registryWith({ release: (id) => void released.push(id), releaseAll: async () => undefined });
  const states = new ListedStates();
  expect(tools.statesOr(() => states)).toBe(states);
  expect(tools.statesOr(() => new ListedStates())).toBe(states);
  expect(await tools.call('note')).toBe('stored');
  for (const listener of states.listeners) listener('ctx_1');
  expect(released).toEqual(['ctx_1']);
});
