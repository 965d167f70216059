import { describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { loadConfig } from '../../config/index.js';
import { createCallSite } from '../call/tool-request.factory.js';
import { createRegisteredTool } from '../registered-tool.factory.js';
import type { Tool } from '../tool.types.js';
import { ContextClosings } from './context-closing.registry.js';
import { contextIdOf } from './context-id.factory.js';
import { StateBackendRegistry } from './state-backend.registry.js';
import type { StatefulOptions } from './stateful-options.types.js';
import { ToolStates } from './tool-states.service.js';

Logger.overrideLogger(false);

const SITE = createCallSite({ sessionId: 's' });
const ID = contextIdOf({ tenant: 'default', session: 's', tool: 'count' });

function listen() {
  const closings = new ContextClosings();
  const told: string[] = [];
  closings.onClosed((id) => void told.push(id));
  const states = new ToolStates(
    new StateBackendRegistry(loadConfig({ env: {} }).config, undefined, undefined, closings),
  );
  return { closings, told, states };
}

function toolOf(stateful: StatefulOptions): Tool {
  return createRegisteredTool({ name: 'count', description: 'Counts.', stateful, handler: () => 1 });
}

describe('a listener of closed contexts', () => {
  it('is notified of a cleanup', async () => {
    const { told, states } = listen();
    const tool = toolOf({});
    await states.callAlone(tool, {}, SITE, async () => 1);
    expect(told).toEqual([]);
    await (await states.managerOf(tool)).cleanupContext(ID);
    expect(told).toEqual([ID]);
  });

  it('is notified of an expired context at its next call', async () => {
    const { told, states } = listen();
    const tool = toolOf({ ttlMs: 1 });
    await states.callAlone(tool, {}, SITE, async () => 1);
    const later = Date.now() + 10;
    jest.spyOn(Date, 'now').mockReturnValue(later);
    expect(await (await states.managerOf(tool)).getContextInfo(ID)).toBeNull();
    expect(told).toEqual([]);
    await states.callAlone(tool, {}, SITE, async () => 1);
    jest.restoreAllMocks();
    expect(told).toEqual([ID]);
  });

  it('is notified when a context ends with its run or with a call without a session', async () => {
    const { told, states } = listen();
    const tool = toolOf({ cleanupAfterRun: true });
    await states.callAlone(tool, {}, SITE, async () => 1);
    const { ended } = await states.ending(SITE, [tool]);
    await ended();
    expect(told).toEqual([ID]);
    const site = createCallSite();
    await states.callAlone(tool, {}, site, async () => 1);
    expect(told[1]).toBe(contextIdOf({ tenant: 'default', session: `run:${site.runId}`, tool: 'count' }));
  });

  it('is not notified after it unsubscribes, and does not affect others when it throws', () => {
    const { closings, told } = listen();
    const leave = closings.onClosed(() => {
      throw new Error('broken');
    });
    closings.onClosed((id) => void told.push(`2 ${id}`));
    closings.closed('a');
    leave();
    closings.closed('b');
    expect(told).toEqual(['a', '2 a', 'b', '2 b']);
  });
});
