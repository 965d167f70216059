import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { setImmediate as turn } from 'node:timers/promises';
import { openDatabase, type OpenDatabase } from '../../test/support/run-host.js';
import { BY_PRINCIPAL } from '../../test/support/run-parts.js';
import { suspend, ToolRegistry } from '../tool/index.js';
import { Parameter } from '../tool/input/index.js';
import { ContextOwners } from './context-owners.store.js';
import { adaptStateful, type StatefulAdapter } from './stateful-adapter.factory.js';
import { StatefulToolSessions } from './stateful-tool-sessions.js';
import { ToolStates } from './tool-states.js';

Logger.overrideLogger(false);

let opened: OpenDatabase;
beforeAll(async () => {
  opened = await openDatabase();
});
afterAll(() => opened.close());

interface Args {
  readonly word?: string;
  readonly fails?: boolean;
}

/** A typical stateful object: it stores its words and holds an open resource. */
class Notebook {
  isOpen = true;
  constructor(readonly words: string[] = []) {}

  write({ word, fails }: Args): unknown {
    if (word !== undefined) this.words.push(word);
    if (fails) throw new Error('the pencil broke');
    return { state: 'written', words: [...this.words] };
  }
}

const KEEPS: Partial<StatefulAdapter<Notebook>> = {
  snapshot: ({ words }) => ({ words }),
  restore: ({ words }: { words: string[] }) => new Notebook([...words]),
};

function desk(more: Partial<StatefulAdapter<Notebook>> = KEEPS, states = ToolStates.inMemory()) {
  const tools = new ToolRegistry(null, states);
  const made: Notebook[] = [];
  const noted = (notebook: Notebook): Notebook => {
    made.push(notebook);
    return notebook;
  };
  const { restore, ...rest } = more;
  const adapter: StatefulAdapter<Notebook> = {
    name: 'notebook',
    description: 'Writes words down.',
    effect: 'read',
    parameters: [Parameter.string('word', 'The word.'), Parameter.boolean('fails', 'Whether it fails.')],
    create: () => noted(new Notebook()),
    call: (notebook: Notebook, args: Args) => notebook.write(args),
    dispose: (notebook) => void (notebook.isOpen = false),
    ...rest,
    ...(restore && { restore: async (kept: never, context) => noted(await restore(kept, context)) }),
  };
  tools.register(adaptStateful(adapter));
  const sessions = new StatefulToolSessions(tools, states, new ContextOwners(opened.database, BY_PRINCIPAL));
  const open = () => made.filter(({ isOpen }) => isOpen).length;
  return { tools, states, made, open, at: (id: string) => sessions.create('notebook', id) };
}

describe('a stateful tool with instances', () => {
  it('creates one instance for each session at its first call', async () => {
    const { at, made } = desk();
    expect(made).toEqual([]);
    await at('a').execute({ word: 'one' });
    await at('b').execute({ word: 'two' });
    expect(await at('a').execute({ word: 'three' })).toEqual({ state: 'written', words: ['one', 'three'] });
    expect(made).toHaveLength(2);
  });

  it('stores a snapshot after each successful call, and no version without a change', async () => {
    const { at } = desk();
    await at('a').execute({ word: 'one' });
    await at('a').execute({});
    expect(await at('a').state()).toMatchObject({ data: { words: ['one'] }, version: 1 });
  });

  it('is restored from its snapshot after a restart', async () => {
    const { states, at } = desk();
    await at('a').execute({ word: 'one' });
    const next = desk(KEEPS, states);
    expect(await next.at('a').execute({ word: 'two' })).toMatchObject({ words: ['one', 'two'] });
  });

  it('discards the changes of a failed call', async () => {
    const { at, made, open } = desk();
    await at('a').execute({ word: 'one' });
    await expect(at('a').execute({ word: 'half', fails: true })).rejects.toMatchObject({ code: 'TOOL_FAILED' });
    expect(await at('a').execute({ word: 'two' })).toMatchObject({ words: ['one', 'two'] });
    expect([made.length, open()]).toEqual([2, 1]);
  });

  it('follows an external change of its state', async () => {
    const { at, states, tools } = desk();
    await at('a').execute({ word: 'one' });
    await at('a').execute({ word: 'two' });
    await (await states.managerOf(tools.get('notebook'))).rollback(at('a').contextId, 1);
    expect(await at('a').execute({})).toMatchObject({ words: ['one'] });
  });

  it('disposes of its instance when a call suspends', async () => {
    const { tools, made, open } = desk({ ...KEEPS, call: () => suspend({ question: 'Really?' }) });
    await expect(tools.call('notebook', {}, { sessionId: 'a' })).rejects.toMatchObject({ code: 'TOOL_FAILED' });
    expect([made.length, open()]).toEqual([1, 0]);
  });

  it('retains its instance as long as its context without snapshots, even after failures', async () => {
    const { at, made, open } = desk({});
    await at('a').execute({ word: 'one' });
    await expect(at('a').execute({ word: 'half', fails: true })).rejects.toMatchObject({ code: 'TOOL_FAILED' });
    expect(await at('a').execute({})).toMatchObject({ words: ['one', 'half'] });
    expect(await at('a').state()).toBeNull();
    expect(await at('a').cleanup()).toBe(true);
    expect([made.length, open()]).toEqual([1, 0]);
    expect(await at('a').execute({})).toMatchObject({ words: [] });
  });

  it('executes the calls of a session one after the other', async () => {
    const { tools, made } = desk({
      create: async () => (await turn(), new Notebook()),
      call: async (notebook, args: Args) => (await turn(), notebook.write(args)),
    });
    await Promise.all(['a', 'b', 'c'].map((word) => tools.call('notebook', { word }, { sessionId: 's' })));
    expect(await tools.call('notebook', {}, { sessionId: 's' })).toMatchObject({ words: ['a', 'b', 'c'] });
    expect(made).toEqual([]);
  });

  it('holds at most maxInstances instances, and restores evicted ones', async () => {
    const { at, open } = desk({ ...KEEPS, maxInstances: 2 });
    for (const id of ['a', 'b', 'a', 'c']) await at(id).execute({ word: id });
    await turn();
    expect(open()).toBe(2);
    expect(await at('b').execute({})).toMatchObject({ words: ['b'] });
    expect(await at('a').execute({})).toMatchObject({ words: ['a', 'a'] });
  });

  it('leaves no instance or context of 1,000 sessions that were cleaned up', async () => {
    const { at, open, made, states, tools } = desk({ ...KEEPS, maxInstances: 5000 });
    const ids = Array.from({ length: 1000 }, (_, n) => `s${n}`);
    await Promise.all(ids.map((id) => at(id).execute({ word: id })));
    expect([made.length, open()]).toEqual([1000, 1000]);
    await Promise.all(ids.map((id) => at(id).cleanup()));
    expect(open()).toBe(0);
    const manager = await states.managerOf(tools.get('notebook'));
    expect(await manager.listContexts({ tenant: 'default' })).toEqual([]);
  });

  it('disposes of its instance after a call without a session, when it is unregistered, and at shutdown', async () => {
    const { tools, at, open } = desk();
    await tools.call('notebook', { word: 'one' });
    expect(open()).toBe(0);
    await at('a').execute({});
    await tools.onApplicationShutdown();
    expect(open()).toBe(0);
    const other = desk();
    await other.at('a').execute({});
    other.tools.unregister('notebook');
    expect(other.open()).toBe(0);
  });

  it('tolerates an instance that cannot be disposed of', async () => {
    const { at } = desk({
      dispose: () => {
        throw new Error('stuck');
      },
    });
    await at('a').execute({ word: 'one' });
    expect(await at('a').cleanup()).toBe(true);
    expect(await at('a').execute({})).toMatchObject({ words: [] });
  });

  it.each<[Partial<StatefulAdapter<Notebook>>, RegExp]>([
    [{ snapshot: KEEPS.snapshot! }, /it has one of snapshot and restore/],
    [{ maxInstances: 2 }, /it has maxInstances, but without snapshot/],
    [{ ...KEEPS, maxInstances: 0 }, /its maxInstances is 0/],
    [{ create: 5, call: null } as never, /it has no create.*it has no call/],
    [{ stateful: { ttlMs: -1 } }, /its stateful.ttlMs is -1/],
    [
      { stateful: { autoSave: false, initial: {} } as never },
      /its stateful.autoSave has no effect.*its stateful.initial/,
    ],
    [{ stateful: false as never }, /its stateful is false/],
    [
      { stateful: { maxVersions: 3, conflict: 'merge' } },
      /stateful.maxVersions has no effect without snapshot.*conflict/,
    ],
  ])('is rejected when it is invalid: %#', (wrong, reason) => {
    expect(() => desk(wrong)).toThrow(
      expect.objectContaining({ code: 'TOOL_INVALID', message: expect.stringMatching(reason) }),
    );
  });
});
