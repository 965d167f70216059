import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AppError } from '../../errors/index.js';
import { newId } from '../../kernel/index.js';
import { MortalDatabase, type Death } from '../../../test/support/mortal-database.js';
import { ALICE, aRun, openDatabase, RunHost, type OpenDatabase } from '../../../test/support/run-host.js';
import type { WaitingRequest } from '../decision/waiting-request.types.js';
import type { RunContext } from '../context/run-context.js';
import type { RunOutcome } from '../run.types.js';

const STEPS = [1, 2, 3];

/** A parent run with a child run, over any number of processes. */
class Life {
  readonly parentId = newId();
  /** The executed steps of the child, in order of execution. */
  readonly done: number[] = [];
  /** The child's results, in order of their recording by the parent. */
  readonly joined: string[] = [];

  constructor(
    private readonly database: OpenDatabase['database'],
    private readonly needsPerson: boolean,
  ) {}

  /** Runs one process to its crash or to the end of the parent. @returns whether it crashed */
  async live(death?: Death): Promise<boolean> {
    const mortal = new MortalDatabase(this.database, death);
    const host = new RunHost(mortal);
    host.scripts.set('caller', (context) => this.call(context));
    host.scripts.set('called', (context) => this.work(context, mortal));
    host.bus.onWake(() => void this.approve(host));
    const ended = host.ended(this.parentId);
    const isNew = (await this.statuses()).length === 0;
    const started = isNew ? host.runs.start(aRun(this.parentId, null, { agent: 'caller' })) : host.runs.recover();
    started.catch(() => undefined);
    const isOver = (await this.statuses())[0] === 'completed';
    if (!isNew) void this.approve(host);
    await Promise.race([isOver ? undefined : ended, mortal.died]);
    const { isDead } = mortal;
    mortal.bury();
    // Pending commits of the dead process have landed now, or never will.
    await this.database.commit([]);
    return isDead;
  }

  statuses(): Promise<string[]> {
    return statusesOf(this.database, this.parentId);
  }

  private async call(context: RunContext): Promise<RunOutcome | void> {
    const at = { place: '1:1', subject: 'called' };
    const id = await context.step({ kind: 'child', ...at }, async () => newId());
    const request = async () => ({ kind: 'test', name: 'called', input: null, isHandoff: false, facts: [] });
    const standing = await context.join({ id, step: 'tool:1:1', request });
    if (standing.kind === 'waiting') return { kind: 'waiting', requests: [aRequest('child', id)] };
    await context.step({ kind: 'tool', ...at }, async () => this.joined.push(standing.end.result));
  }

  private async work(context: RunContext, mortal: MortalDatabase): Promise<RunOutcome | void> {
    for (const n of STEPS) {
      if (n === 3 && this.needsPerson && !context.answer('approval')) {
        return { kind: 'waiting', requests: [aRequest('approval')] };
      }
      await context.step({ kind: 'model', place: String(n), subject: 'm' }, async () => {
        if (mortal.isDead) return mortal.silence;
        return this.done.push(n);
      });
    }
  }

  /** Approves the child's request as soon as it waits. */
  private async approve(host: RunHost): Promise<void> {
    const sql = `SELECT id FROM run WHERE parent_run_id = ? AND status = 'waiting'`;
    try {
      const [child] = await host.database.query<{ id: string }>(sql, [this.parentId]);
      if (!child) return;
      const waiting = await host.decisions.open(ALICE, child.id);
      await host.decisions.decide(waiting, [{ request: waiting.requests[0]!, verdict: { kind: 'approve' } }], 'alice');
    } catch (error) {
      // It was approved meanwhile, or this process is dead.
      if ((error as AppError).code !== 'RUN_NOT_WAITING' && (error as Error).message !== 'dead') throw error;
    }
  }
}

/** A parent that ends while its child waits for a decision, over any number of processes. */
class Desertion {
  private readonly parentId = newId();
  private readonly childId = newId();

  constructor(private readonly database: OpenDatabase['database']) {}

  /** Runs one process to its crash or to the end of both. @returns whether it crashed */
  async live(death?: Death): Promise<boolean> {
    const mortal = new MortalDatabase(this.database, death);
    const host = new RunHost(mortal);
    host.scripts.set(this.parentId, (context) => this.desert(context));
    host.scripts.set(this.childId, async ({ signal }) => {
      signal.throwIfAborted();
      return { kind: 'waiting', requests: [aRequest('approval')] };
    });
    const ended = host.ended(this.childId);
    const before = await this.statuses();
    const started = before.length === 0 ? host.runs.start(aRun(this.parentId)) : host.runs.recover();
    started.catch(() => undefined);
    await Promise.race([before[1] === 'failed' ? undefined : ended, mortal.died]);
    const { isDead } = mortal;
    mortal.bury();
    await this.database.commit([]);
    return isDead;
  }

  statuses(): Promise<string[]> {
    return statusesOf(this.database, this.parentId);
  }

  private async desert(context: RunContext): Promise<void> {
    const id = await context.step({ kind: 'child', place: '1:1', subject: 'called' }, async () => this.childId);
    const request = async () => ({ kind: 'test', name: id, input: null, isHandoff: false, facts: [] });
    await context.join({ id, step: 'tool:1:1', request });
  }
}

/** The parent's status comes first. */
async function statusesOf(database: OpenDatabase['database'], parentId: string): Promise<string[]> {
  const sql = 'SELECT status FROM run WHERE id = ? OR parent_run_id = ? ORDER BY depth';
  const rows = await database.query<{ status: string }>(sql, [parentId, parentId]);
  return rows.map(({ status }) => status);
}

function aRequest(kind: 'approval' | 'child', child_run_id?: string): WaitingRequest {
  const about = { step: 'tool:1:1', call_id: 'c', tool: 't', arguments: '{}', expires_at: null };
  return { id: kind, kind, ...about, ...(child_run_id !== undefined && { child_run_id }) };
}

describe.each([
  ['works', false],
  ['waits for a decision', true],
])('a run with a child run that %s', (_what, needsPerson) => {
  let opened: OpenDatabase;
  beforeAll(async () => {
    opened = await openDatabase();
  });
  afterAll(() => opened.close());

  it('starts the child once and records its answer once, wherever the process crashes', async () => {
    let deaths = 0;
    for (const isDurable of [false, true]) {
      for (let commits = 0; ; commits++) {
        const life = new Life(opened.database, needsPerson);
        const isDead = await life.live({ commits, isDurable });
        if (isDead) await life.live();
        expect([commits, await life.statuses()]).toEqual([commits, ['completed', 'completed']]);
        // Only the interrupted step repeats after a crash.
        expect([...new Set(life.done)]).toEqual(STEPS);
        expect(life.done.length).toBeLessThanOrEqual(STEPS.length + 1);
        expect(new Set(life.joined)).toEqual(new Set(['done']));
        if (!isDead) break;
        deaths++;
      }
    }
    expect(deaths).toBeGreaterThan(needsPerson ? 16 : 12);
  });
});

describe('a run with a child run', () => {
  let opened: OpenDatabase;
  let host: RunHost;
  beforeAll(async () => {
    opened = await openDatabase();
    host = new RunHost(opened.database);
  });
  afterAll(() => opened.close());

  it('cancels open children at its end', async () => {
    const [parentId, childId] = [newId(), newId()];
    const stopped = Promise.withResolvers<void>();
    host.scripts.set('endless', async ({ signal }) => {
      signal.addEventListener('abort', () => stopped.resolve());
      await stopped.promise;
    });
    const hasStarted = new Promise<void>((resolve) => {
      host.bus.subscribe(childId, ({ event }) => event.type === 'run.started' && resolve());
    });
    host.scripts.set(parentId, async (context) => {
      const request = async () => ({ kind: 'test', name: 'endless', input: null, isHandoff: false, facts: [] });
      context.join({ id: childId, step: 'tool:1:1', request }).catch(() => undefined);
      await hasStarted;
    });
    const ended = host.ended(childId);
    await (
      await host.runs.start(aRun(parentId))
    ).done;
    await stopped.promise;
    await ended;
    expect((await host.journal.find(childId))?.lineage).toEqual({
      parentRunId: parentId,
      parentStep: 'tool:1:1',
      rootRunId: parentId,
      rootSessionId: null,
      depth: 1,
    });
  });

  it('stops a queued child at once when the parent has ended', async () => {
    const [parentId, childId] = [newId(), newId()];
    await (
      await host.runs.start(aRun(parentId))
    ).done;
    const seen: boolean[] = [];
    host.scripts.set(childId, async ({ signal }) => void seen.push(signal.aborted));
    const lineage = {
      parentRunId: parentId,
      parentStep: 'tool:1:1',
      rootRunId: parentId,
      rootSessionId: null,
      depth: 1,
    };
    const ended = host.ended(childId);
    await host.runs.submit(aRun(childId, null, { lineage }));
    await ended;
    expect(seen).toEqual([true]);
  });

  it('cancels a waiting child at its end, wherever the process crashes', async () => {
    let deaths = 0;
    for (const isDurable of [false, true]) {
      for (let commits = 0; ; commits++) {
        const life = new Desertion(opened.database);
        const isDead = await life.live({ commits, isDurable });
        if (isDead) await life.live();
        // A cancelled script throws the abort reason, so its run fails.
        expect([commits, await life.statuses()]).toEqual([commits, ['completed', 'failed']]);
        if (!isDead) break;
        deaths++;
      }
    }
    expect(deaths).toBeGreaterThan(8);
  });
});
