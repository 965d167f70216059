import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toolExecutor } from './support/tool-parts.js';
import type { Database } from '../src/persistence/index.js';
import type { RunOutcome } from '../src/run/index.js';
import type { RunContext } from '../src/run/context/index.js';
import { endsStream } from '../src/run/event/run-event.types.js';
import { PLAIN_CIPHER } from '../src/security/encryption/index.js';
import { contextIdOf, ToolStates } from '../src/tool-state/index.js';
import { ToolRegistry } from '../src/tool/index.js';
import type { Tool } from '../src/tool/method/index.js';
import { JournalStateBackend } from '../src/tool-state/backend/durable-backend.factory.js';
import { ProjectedStateBackend, StateOutbox } from '../src/tool-state/backend/projected-state-backend.js';
import type { StateBackend } from '../src/tool-state/backend/state-backend.js';
import {
  MemoryStateStore,
  StateBackendRegistry,
  VolatileStateBackend,
} from '../src/tool-state/state-backend.registry.js';
import { DatabaseStateStore } from '../src/tool-state/backend/database-state-store.js';
import { StateCodec } from '../src/tool-state/backend/state-codec.js';
import type { ContextWrite } from '../src/tool-state/backend/state-store.js';
import { MortalDatabase } from './support/mortal-database.js';
import { mortalModel, reasonIn } from './support/reasoned-run.js';
import { ALICE, aRun, completed, openDatabase, RunHost, type OpenDatabase } from './support/run-host.js';
import { calls, says } from './support/scripted-chat-model.js';
import { backendParts } from './support/state-backends.js';

/** A server beside the database, which outlives processes. */
class Outside extends MemoryStateStore {
  /** Number of writes that fail. */
  failures = 0;

  override async write(write: ContextWrite): Promise<boolean> {
    if (this.failures-- > 0) throw new Error('the server is away');
    return super.write(write);
  }
}

class OneBackend extends StateBackendRegistry {
  constructor(private readonly backend: StateBackend) {
    super(...backendParts());
  }

  override async of(): Promise<StateBackend> {
    return this.backend;
  }
}

type MakeBackend = (database: Database, outside: Outside) => StateBackend;

const BACKENDS: readonly (readonly [string, MakeBackend])[] = [
  ['memory', () => new VolatileStateBackend('memory', new MemoryStateStore())],
  [
    'a store beside the journal',
    (database, outside) =>
      new ProjectedStateBackend('persistent', outside, new StateOutbox(database, PLAIN_CIPHER), true),
  ],
  [
    'the journal',
    (database) => new JournalStateBackend('distributed', new DatabaseStateStore(database, new StateCodec())),
  ],
];

/** Two iterations, of two calls and of one. */
const SCRIPT = [calls(['count', {}], ['count', {}]), calls(['count', {}]), says('the end')];

const DEATHS = [true, false].flatMap((isDurable) =>
  Array.from({ length: 12 }, (_, commits) => ({ commits, isDurable })),
);

describe.each(BACKENDS)('a run whose tool stores its state in %s', (kind, makeBackend) => {
  let opened: OpenDatabase;
  const processes: MortalDatabase[] = [];
  beforeAll(async () => {
    opened = await openDatabase();
  });
  afterAll(async () => {
    for (const process of processes) process.bury();
    await opened.close();
  });

  function countIn(process: MortalDatabase): Tool {
    const registry = new ToolRegistry();
    registry.register({
      name: 'count',
      description: 'Counts.',
      effect: 'read',
      stateful: { initial: { count: 0 } },
      handler: ({ state }: { state: { count: number } }) => {
        if (process.isDead) return process.silence;
        return { at: state.count + 1, state: { count: state.count + 1 } };
      },
    });
    return registry.get('count');
  }

  async function reason(run: RunContext, process: MortalDatabase, backend: StateBackend): Promise<RunOutcome> {
    const executor = toolExecutor({ states: new ToolStates(new OneBackend(backend)) });
    // Recorded replies are not requested again.
    const model = mortalModel(process, (said) => SCRIPT[said]!);
    await reasonIn(run, { model, tools: [countIn(process)] }, { executor });
    return completed(run.runId);
  }

  /**
   * Runs consecutive processes until the run ends; the first ones die. @returns the backend that the next process reads;
   * for memory, the last process's own
   */
  async function live(id: string, deaths: readonly { commits: number; isDurable: boolean }[], outside = new Outside()) {
    for (let lives = 0; ; lives++) {
      const mortal = new MortalDatabase(opened.database, deaths[lives]);
      processes.push(mortal);
      const backend = makeBackend(mortal, outside);
      const host = new RunHost(mortal);
      host.scripts.set(id, (context) => reason(context, mortal, backend));
      const ended = new Promise<void>((resolve) => {
        host.bus.subscribe(id, ({ event }) => endsStream(event) && resolve());
      });
      const isThere = (await opened.database.query('SELECT id FROM run WHERE id = ?', [id])).length > 0;
      if (isThere) await Promise.race([host.dispatcher.recover(), mortal.died]);
      else void host.runs.start(aRun(id)).catch(() => undefined);
      await Promise.race([ended, mortal.died]);
      const run = await new RunHost(opened.database).journal.find(id);
      if (!mortal.isDead || run?.status === 'completed')
        return backend.isVolatile ? backend : makeBackend(opened.database, outside);
    }
  }

  async function given(id: string): Promise<unknown[]> {
    const events = await new RunHost(opened.database).events(id);
    return events.flatMap(({ event }) => (event.type === 'tool.completed' && event.success ? [event.result] : []));
  }

  async function stored(backend: StateBackend, id: string): Promise<unknown> {
    const context = contextIdOf({ tenant: ALICE.tenant, session: `run:${id}`, tool: 'count' });
    await backend.catchUp(context);
    const policy = new OneBackend(backend).policyOf({});
    const manager = backend.manager(policy);
    const entry = await manager.getState(context, 'business');
    return { count: entry?.data['count'], version: entry?.version };
  }

  const ALL = [{ at: 1 }, { at: 2 }, { at: 3 }];
  const STORED = { count: 3, version: 3 };

  it.each(DEATHS)(
    'neither loses nor doubles a change when it dies at commit $commits, durable: $isDurable',
    async ({ commits, isDurable }) => {
      const id = `${kind}-${commits}-${isDurable}`;
      const backend = await live(id, [{ commits, isDurable }]);
      expect(await given(id)).toEqual(ALL);
      expect(await stored(backend, id)).toEqual(STORED);
    },
  );

  it('continues while the server beside it is unavailable, and its changes arrive there later', async () => {
    const id = `${kind}-away`;
    const outside = new Outside();
    outside.failures = 1;
    const backend = await live(id, [], outside);
    expect(await given(id)).toEqual(ALL);
    expect(await stored(backend, id)).toEqual(STORED);
  });
});
