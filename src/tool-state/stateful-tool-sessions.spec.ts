import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase, type OpenDatabase } from '../../test/support/run-host.js';
import { BY_PRINCIPAL } from '../../test/support/run-parts.js';
import { ToolRegistry } from '../tool/index.js';
import { ContextOwners } from './context-owners.store.js';
import { StatefulToolSessions } from './stateful-tool-sessions.js';
import { ToolStates } from './tool-states.js';

let opened: OpenDatabase;
beforeAll(async () => {
  opened = await openDatabase();
});
afterAll(() => opened.close());

function office() {
  const states = ToolStates.inMemory();
  const tools = new ToolRegistry(null, states);
  const handler = ({ state: { count } }: { state: { count: number } }) => ({ was: count, state: { count: count + 1 } });
  tools.register({ name: 'count', description: 'Counts.', stateful: { initial: { count: 0 } }, handler });
  tools.register({ name: 'stateless', description: 'Keeps none.', handler: () => 1 });
  return new StatefulToolSessions(tools, states, new ContextOwners(opened.database, BY_PRINCIPAL));
}

describe('a tool in a session', () => {
  it('continues with its state in every binding of the session', async () => {
    const sessions = office();
    expect(await sessions.create('count', 'a').execute()).toEqual({ was: 0 });
    expect(await sessions.create('count', 'a').execute({})).toEqual({ was: 1 });
    expect(await sessions.create('count', 'b').execute()).toEqual({ was: 0 });
  });

  it('has a separate state for another tenant', async () => {
    const sessions = office();
    const principal = { id: 'u', tenant: 'other', roles: [] };
    await sessions.create('count', 'a').execute();
    const theirs = sessions.create('count', 'a', { principal });
    expect(theirs.contextId).not.toBe(sessions.create('count', 'a').contextId);
    expect(await theirs.execute()).toEqual({ was: 0 });
  });

  it('returns its state and history, and deletes them on cleanup', async () => {
    const session = office().create('count', 'a');
    expect([await session.state(), await session.history(), await session.cleanup()]).toEqual([null, [], false]);
    await session.execute();
    await session.execute();
    expect(await session.state()).toMatchObject({ type: 'business', data: { count: 2 }, version: 2 });
    expect(await session.state('connection')).toMatchObject({ data: { session_active: true, error_count: 0 } });
    expect(await session.state('cache')).toBeNull();
    expect((await session.history()).map(({ kind }) => kind)).toEqual([
      'execution_success',
      'execution_start',
      'execution_success',
      'execution_start',
    ]);
    expect(await session.history(1)).toHaveLength(1);
    expect(await session.cleanup()).toBe(true);
    expect([await session.state(), await session.history()]).toEqual([null, []]);
    expect(await session.execute()).toEqual({ was: 0 });
  });

  it.each([
    ['cuont', 'a', 'TOOL_NOT_FOUND', 'There is no tool "cuont". Did you mean "count"?'],
    ['stateless', 'a', 'TOOL_STATE_NOT_FOUND', 'Tool "stateless" keeps no state: call it by ToolRegistry.call'],
    ['count', 'run 1', 'VALIDATION_FAILED', 'The session id "run 1" must be 1 to 128 letters'],
  ])('is refused: %s in %s', (tool, id, code, message) => {
    expect(() => office().create(tool, id)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(message) }),
    );
  });
});
