import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { loadConfig, type EnvRecord } from '../src/config/index.js';
import { type StatefulToolSession, StatefulToolSessions, ToolStates } from '../src/tool-state/index.js';
import { ToolRegistry } from '../src/tool/index.js';
import type { ToolContext } from '../src/tool/method/index.js';
import type { StatefulOptions } from '../src/tool/stateful/index.js';
import { StateBackendRegistry } from '../src/tool-state/state-backend.registry.js';
import { newFolder } from './support/jackdaw.js';
import { openDatabase, type OpenDatabase } from './support/run-host.js';
import { BY_PRINCIPAL } from './support/run-parts.js';
import { ContextOwners } from '../src/tool-state/context-owners.store.js';
import { stateBackends } from './support/state-backends.js';

Logger.overrideLogger(false);

interface Args {
  readonly text?: string;
  readonly saves?: boolean;
  readonly meanwhile?: boolean;
}

const PARAMETERS = {
  type: 'object',
  properties: { text: { type: 'string' }, saves: { type: 'boolean' }, meanwhile: { type: 'boolean' } },
};

let opened: OpenDatabase;
const folder = newFolder();
const backends: StateBackendRegistry[] = [];
beforeAll(async () => {
  opened = await openDatabase({});
});
afterAll(async () => {
  for (const registry of backends) await registry.onApplicationShutdown();
  await opened.close();
  rmSync(folder, { recursive: true });
});

let count = 0;

/** A tool that stores a text, in a session of its own. */
function noteIn(env: EnvRecord, stateful: true | StatefulOptions = true) {
  const { config } = loadConfig({ env: { DATA_DIR: folder, ...env } });
  const registry = stateBackends({ config, database: opened.database });
  backends.push(registry);
  const states = new ToolStates(registry);
  const tools = new ToolRegistry(null, states);
  const sessions = new StatefulToolSessions(tools, states, new ContextOwners(opened.database, BY_PRINCIPAL));
  const id = `options-${count++}`;
  const named = (name: string): StatefulToolSession => {
    tools.register({
      name,
      description: 'Keeps a text.',
      effect: 'read',
      parameters: PARAMETERS,
      stateful,
      handler: async ({ text, saves, meanwhile }: Args, { state }: ToolContext) => {
        state!.update({ text: text ?? 'short' });
        if (saves) state!.save();
        const contextId = sessions.create(name, id).contextId;
        if (meanwhile)
          await (await states.managerOf(tools.get(name))).setState(contextId, 'business', { text: 'theirs' });
      },
    });
    return sessions.create(name, id);
  };
  return { named, note: named('note') };
}

const textOf = async (note: StatefulToolSession) => (await note.state())?.data['text'];
const versionsOf = async (note: StatefulToolSession) => (await note.state())?.version;

describe('options of all tool states', () => {
  it('TOOL_STATE_AUTO_SAVE: false stores explicit saves only', async () => {
    const { note } = noteIn({ TOOL_STATE_AUTO_SAVE: 'false' });
    await note.execute();
    expect(await note.state()).toBeNull();
    await note.execute({ saves: true });
    expect(await textOf(note)).toBe('short');
  });

  it('TOOL_STATE_MAX_BYTES: refuses a larger state, and the stored one stays', async () => {
    const { note } = noteIn({ TOOL_STATE_MAX_BYTES: '50' });
    await note.execute();
    await expect(note.execute({ text: 'x'.repeat(50) })).rejects.toMatchObject({ code: 'TOOL_STATE_TOO_LARGE' });
    expect(await textOf(note)).toBe('short');
  });

  it('TOOL_STATE_MAX_HISTORY: limits the calls in the history', async () => {
    const { note } = noteIn({ TOOL_STATE_MAX_HISTORY: '2' });
    for (let n = 0; n < 3; n++) await note.execute();
    expect((await note.history()).map(({ n }) => n)).toEqual([6, 5, 4, 3]);
  });

  it('TOOL_STATE_CONFLICT: resolves a late change', async () => {
    const { note } = noteIn({ TOOL_STATE_CONFLICT: 'error' });
    await note.execute();
    await expect(note.execute({ meanwhile: true })).rejects.toMatchObject({ code: 'TOOL_STATE_CONFLICT' });
    expect(await textOf(note)).toBe('theirs');
  });

  it('TOOL_STATE_MAX_PER_SESSION: limits the tools with states in a session', async () => {
    const { named, note } = noteIn({ TOOL_STATE_MANAGER: 'session', TOOL_STATE_MAX_PER_SESSION: '1' });
    await note.execute();
    await expect(named('other').execute()).rejects.toMatchObject({ code: 'TOOL_STATE_LIMIT' });
    expect(await textOf(note)).toBe('short');
  });

  it('TOOL_STATE_SESSION_TIMEOUT_MS: deletes a state after this idle time', async () => {
    const { note } = noteIn({ TOOL_STATE_MANAGER: 'session', TOOL_STATE_SESSION_TIMEOUT_MS: '50' });
    await note.execute();
    expect(await textOf(note)).toBe('short');
    await pause(60);
    expect(await note.state()).toBeNull();
  });

  it('TOOL_STATE_COMPRESSION: compresses files', async () => {
    const env = {
      TOOL_STATE_MANAGER: 'persistent',
      TOOL_STATE_PATH: join(folder, 'gz'),
      TOOL_STATE_COMPRESSION: 'true',
    };
    const { note } = noteIn(env);
    await note.execute();
    expect(existsSync(join(folder, 'gz', `${note.contextId}.json.gz`))).toBe(true);
  });

  it('TOOL_STATE_COMPRESSION: compresses rows', async () => {
    const { note } = noteIn({ TOOL_STATE_MANAGER: 'distributed', TOOL_STATE_COMPRESSION: 'true' });
    const text = 'over and over again '.repeat(500);
    await note.execute({ text });
    const sql = "SELECT data FROM tool_state_entry WHERE context_id = ? AND type = 'business'";
    const [row] = await opened.database.query<{ data: string }>(sql, [note.contextId]);
    expect(row!.data.length).toBeLessThan(text.length / 10);
    expect(await textOf(note)).toBe(text);
  });
});

describe('state options of one tool', () => {
  it('autoSave: overrides the global option', async () => {
    const { note } = noteIn({ TOOL_STATE_AUTO_SAVE: 'false' }, { autoSave: true });
    await note.execute();
    const { note: other } = noteIn({}, { autoSave: false });
    await other.execute();
    expect([await textOf(note), await other.state()]).toEqual(['short', null]);
  });

  it('maxHistory, maxVersions and conflict: override the global options, too', async () => {
    const env = { TOOL_STATE_MAX_HISTORY: '9', TOOL_STATE_CONFLICT: 'error' };
    const { note } = noteIn(env, { maxHistory: 1, maxVersions: 1, conflict: 'first_write_wins' });
    await note.execute();
    await note.execute({ meanwhile: true });
    expect([await textOf(note), await versionsOf(note), (await note.history()).length]).toEqual(['theirs', 2, 2]);
  });
});
