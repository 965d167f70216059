import { describe, expect, it, vi } from 'vitest';
import { Logger } from '@nestjs/common';
import { ToolRegistry } from '../tool/index.js';
import { createCallSite } from '../tool/call/index.js';
import type { Tool } from '../tool/method/index.js';
import type { StatefulOptions } from '../tool/stateful/index.js';
import { ContextClosings } from './context-closings.js';
import { contextIdOf } from './context-id.factory.js';
import { ToolStates } from './tool-states.js';
import { stateBackends } from '../../test/support/state-backends.js';

Logger.overrideLogger(false);

const SITE = createCallSite({ sessionId: 's' });
const ID = contextIdOf({ tenant: 'default', session: 's', tool: 'count' });

function listen() {
  const closings = new ContextClosings();
  const received: string[] = [];
  closings.onClosed((id) => void received.push(id));
  const states = new ToolStates(stateBackends({ closings }));
  return { closings, received, states };
}

function toolOf(stateful: StatefulOptions): Tool {
  const tools = new ToolRegistry();
  tools.register({ name: 'count', description: 'Counts.', stateful, handler: () => 1 });
  return tools.get('count');
}

describe('a listener of closed contexts', () => {
  it('is notified of a cleanup', async () => {
    const { received, states } = listen();
    const tool = toolOf({});
    await states.callAlone(tool, {}, SITE, async () => 1);
    expect(received).toEqual([]);
    await (await states.managerOf(tool)).cleanupContext(ID);
    expect(received).toEqual([ID]);
  });

  it('is notified of an expired context at its next call', async () => {
    const { received, states } = listen();
    const tool = toolOf({ ttlMs: 1 });
    await states.callAlone(tool, {}, SITE, async () => 1);
    const later = Date.now() + 10;
    vi.spyOn(Date, 'now').mockReturnValue(later);
    expect(await (await states.managerOf(tool)).getContextInfo(ID)).toBeNull();
    expect(received).toEqual([]);
    await states.callAlone(tool, {}, SITE, async () => 1);
    vi.restoreAllMocks();
    expect(received).toEqual([ID]);
  });

  it('is notified when a context ends with its run or with a call without a session', async () => {
    const { received, states } = listen();
    const tool = toolOf({ cleanupAfterRun: true });
    await states.callAlone(tool, {}, SITE, async () => 1);
    const { ended } = await states.ending(SITE, [tool]);
    await ended();
    expect(received).toEqual([ID]);
    const site = createCallSite();
    await states.callAlone(tool, {}, site, async () => 1);
    expect(received[1]).toBe(contextIdOf({ tenant: 'default', session: `run:${site.runId}`, tool: 'count' }));
  });

  it('is not notified after it unsubscribes, and does not affect others when it throws', () => {
    const { closings, received } = listen();
    const unsubscribe = closings.onClosed(() => {
      throw new Error('broken');
    });
    closings.onClosed((id) => void received.push(`2 ${id}`));
    closings.closed('a');
    unsubscribe();
    closings.closed('b');
    expect(received).toEqual(['a', '2 a', 'b', '2 b']);
  });
});
