import { afterAll, beforeAll, expect, it } from 'vitest';
import { setTimeout as pause } from 'node:timers/promises';
import { StatefulToolSessions } from '../src/tool-state/index.js';
import { Tool, ToolState } from '../src/tool/method/index.js';
import { FakeLlm } from './support/fake-llm.js';
import { gate, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { callOf } from './support/waiting-run.js';

const NOTHING = { type: 'object', properties: {} } as const;

class RoomTools {
  quickIsStored = gate();

  @Tool({ description: 'Is over at once.', effect: 'read', stateful: true, input: NOTHING })
  quick(_input: object, @ToolState() state: ToolState<{ n?: number }>): string {
    state.update({ n: 1 });
    return 'quick';
  }

  @Tool({ description: 'Is over later.', effect: 'read', stateful: true, input: NOTHING })
  async slow(_input: object, @ToolState() state: ToolState<{ n?: number }>): Promise<string> {
    await this.quickIsStored.opened;
    state.update({ n: 1 });
    return 'slow';
  }
}

let llm: FakeLlm;
let jackdaw: Jackdaw;
const tools = new RoomTools();
beforeAll(async () => {
  llm = await FakeLlm.start();
  const env = { TOOL_STATE_MANAGER: 'session', TOOL_STATE_MAX_PER_SESSION: '1', TOOL_STATE_SESSION_TIMEOUT_MS: '2000' };
  jackdaw = await startJackdaw({ llm, tools: [tools], env });
});
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
});

it('a state limit is reported to the model, and ends no run, when two tools start at once', async () => {
  const calls = ['slow', 'quick'].map((name) => ({ ...callOf(name, {}), id: name }));
  llm.reply({ calls }, { text: 'done' });
  const stream = await jackdaw.stream({ query: 'go', sessionId: 's' });
  await stream.waitFor('tool.completed');
  tools.quickIsStored.open();
  const events = await stream.all();
  const done = events
    .filter(({ event }) => event === 'tool.completed')
    .map(({ data }) => [data['tool'], data['success']]);
  expect(Object.fromEntries(done)).toEqual({ slow: true, quick: false });
  expect(events.at(-1)?.event).toBe('run.completed');
  const { body } = await jackdaw.get('/api/tool-states');
  expect((body['contexts'] as unknown as { tool: string }[]).map(({ tool }) => tool)).toEqual(['slow']);
});

it('a state limit ends no run when a long call’s state has expired, and another tool took the place', async () => {
  tools.quickIsStored = gate();
  llm.reply({ calls: [{ ...callOf('slow', {}), id: 'slow' }] }, { text: 'done' });
  const stream = await jackdaw.stream({ query: 'go', sessionId: 'long' });
  await stream.waitFor('tool.started');
  const quick = jackdaw.app.get(StatefulToolSessions).create('quick', 'long');
  await pause(2200);
  expect(await quick.execute()).toBe('quick');
  tools.quickIsStored.open();
  expect((await stream.all()).map(({ event }) => event)).toContain('run.completed');
});
