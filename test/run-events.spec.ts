import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OnEvent } from '@nestjs/event-emitter';
import { rmSync } from 'node:fs';
import { RunService, type RunNotice } from '../src/index.js';
import { isLive } from '../src/run/event/index.js';
import { FakeLlm } from './support/fake-llm.js';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { callOf, WaitingRun } from './support/waiting-run.js';
import { WaitingTools } from './support/waiting.tool.js';

const KEY = { id: 'local', tenant: 'default', roles: ['admin'] };

/** Receives every event, and reads the run when its end is published. */
class Ear {
  readonly heard: RunNotice[] = [];
  readonly statuses: Promise<string>[] = [];
  jackdaw: Jackdaw | undefined;

  @OnEvent('**')
  hear(notice: RunNotice): void {
    this.heard.push(notice);
  }

  @OnEvent('run.completed')
  look({ runId }: RunNotice<'run.completed'>): void {
    const runs = this.jackdaw?.app.get(RunService, { strict: false });
    if (runs) this.statuses.push(runs.get(KEY, runId).then(({ status }) => status));
  }
}

/** A listener with every kind of misbehaviour. */
class Nuisance {
  calls = 0;

  @OnEvent('run.started')
  throws(): void {
    this.calls++;
    throw new Error('the ear aches');
  }

  @OnEvent('run.*')
  async rejects(): Promise<void> {
    this.calls++;
    await Promise.resolve();
    throw new Error('the other ear aches');
  }

  @OnEvent('tool.*')
  hangs(): Promise<void> {
    this.calls++;
    return new Promise(() => undefined);
  }

  @OnEvent('tool.completed')
  spoils({ event }: RunNotice<'tool.completed'>): void {
    this.calls++;
    (event as { result?: unknown }).result = 'spoilt';
  }
}

describe('run events for @OnEvent methods', () => {
  let llm: FakeLlm;
  let folder: string;
  beforeAll(async () => {
    llm = await FakeLlm.start();
    folder = newFolder();
  });
  afterAll(async () => {
    await llm.close();
    rmSync(folder, { recursive: true });
  });

  async function start(ear: Ear, nuisance: Nuisance): Promise<Jackdaw> {
    const tools = [new WaitingTools(), ear, nuisance];
    const jackdaw = await startJackdaw({
      llm,
      tools,
      dataDir: folder,
      env: { LOG_LEVEL: 'error' },
      options: { runEvents: true },
    });
    ear.jackdaw = jackdaw;
    return jackdaw;
  }

  it('are delivered once, durable, across a wait and a restart, whatever other listeners do', async () => {
    const [ear, later, nuisance] = [new Ear(), new Ear(), new Nuisance()];
    llm.reply({ calls: [callOf('pay', { to: 'bob', amount: 5 })] }).reply({ text: 'the end' });
    const first = await start(ear, nuisance);
    const run = await WaitingRun.begin(first, 'shown');
    await first.stop();
    const second = await start(later, nuisance);
    await run.on(second).after('approve');
    const { body } = await second.get(`/api/runs/${run.id}/journal?limit=200`);
    const journaled = (body['events'] as unknown as { data: unknown }[]).map(({ data }) => data);
    await second.stop();
    const notices = [...ear.heard, ...later.heard].filter(({ event }) => !isLive(event));
    expect(notices.map(({ event }) => event)).toEqual(journaled);
    expect(journaled).toContainEqual(expect.objectContaining({ type: 'tool.completed', result: 'paid 5 to bob' }));
    for (const { runId, tenant, sessionId, agent } of notices) {
      expect([runId, tenant, sessionId, agent]).toEqual([run.id, 'default', 'shown', 'default']);
    }
    expect(ear.heard.at(-1)?.event.type).toBe('run.waiting');
    expect(later.heard[0]?.event.type).toBe('policy.decided');
    expect(later.heard.some(({ event }) => event.type === 'step.started')).toBe(true);
    expect(await Promise.all(later.statuses)).toEqual(['completed']);
    expect(nuisance.calls).toBeGreaterThan(4);
    const errors = [...first.log, ...second.log].map(({ msg }) => msg);
    // Started, waiting, resumed, completed; each failure once.
    expect(errors.filter((msg) => msg === 'the ear aches')).toHaveLength(1);
    expect(errors.filter((msg) => msg === 'the other ear aches')).toHaveLength(4);
  });

  it('are not delivered without the option runEvents', async () => {
    const ear = new Ear();
    const jackdaw = await startJackdaw({ llm, tools: [ear] });
    llm.reply({ text: 'hello' });
    expect((await jackdaw.chat({ query: 'hi' })).status).toBe(200);
    await jackdaw.stop();
    expect(ear.heard).toEqual([]);
  });
});
