import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as passes } from 'node:timers/promises';
import type { WaitingRequest } from '../../src/run/decision/index.js';
import { ChaosClient, type Decide } from './chaos-client.js';
import { readEffects, readJournal, type ChaosJournal } from './chaos-journal.js';
import { ChaosLedger } from './chaos-ledger.js';
import { conversations, followScript, type Conversation } from './chaos-plan.js';
import { describeKill, type Kill } from './chaos-points.js';
import type { ChaosStore, OpenChaosStore } from './chaos-stores.js';
import { FakeLlm } from './fake-llm.js';
import { anthropicFaults, openAiFaults } from './history-rules.js';
import { program, ServerProcess } from './process.js';

const APP = program('chaos-app');
/** Number of concurrent clients of a process; each has one conversation after the other. */
const CLIENTS = 5;
/** A process that does not reach its point within this time is killed, in ms. */
const PATIENCE_MS = 30_000;
/**
 * Maximum interval between two ends of runs when processes are no longer killed, also on an overloaded machine, in ms.
 */
const CALM_MS = 60_000;
const PLANS = 400;

/** Runs that must continue without a person: runs queued behind a waiting run of their session are excluded. */
const UNFINISHED = `SELECT r.id FROM run r WHERE r.status IN ('queued', 'running') AND NOT EXISTS (
  SELECT 1 FROM run h WHERE h.session_id = r.session_id AND h.session_slot IS NOT NULL AND h.status = 'waiting')`;

/** A node of a world, and its own variables. */
type Env = Readonly<Record<string, string>>;

/** A database, the processes that are killed on it, and the clients and the model that outlive them. */
export class ChaosWorld {
  readonly ledger = new ChaosLedger();
  /** Log of the actions, for the report of a violation. */
  readonly story: string[] = [];
  /** Calls with an unknown outcome, by run and request: whether they had happened. */
  readonly gaps = new Map<string, boolean>();
  readonly effectsFile: string;
  /** Epoch ms from which runs of an old loop may end because no process can replay them. */
  outdatedFrom = Infinity;
  private readonly startedAt = Date.now();
  private readonly plans: readonly Conversation[];
  /** Ended runs whose end no follower received. */
  readonly unheard = new Set<string>();
  private readonly nodes: ServerProcess[] = [];
  private readonly stuck = new Set<string>();
  private count = 0;

  private constructor(
    readonly name: string,
    private readonly store: ChaosStore,
    private readonly open: OpenChaosStore,
    readonly llm: FakeLlm,
    private readonly folder: string,
    seed: number,
  ) {
    this.plans = conversations(PLANS, seed);
    this.effectsFile = join(folder, 'effects');
    llm.always(followScript);
  }

  static async open(store: ChaosStore, seed: number): Promise<ChaosWorld> {
    const folder = mkdtempSync(join(tmpdir(), 'jackdaw-chaos-'));
    const llm = await FakeLlm.start();
    return new ChaosWorld(randomBytes(4).toString('hex'), store, await store.open(folder), llm, folder, seed);
  }

  async close(): Promise<void> {
    await this.open.drop();
    await this.llm.close();
    rmSync(this.folder, { recursive: true });
  }

  /** Runs processes and kills them, as many at once as share the database. @returns the kills that did not happen */
  async endure(kills: readonly Kill[], env: Env = {}): Promise<Kill[]> {
    const missed: Kill[] = [];
    const rest = kills[Symbol.iterator]();
    const node = async () => {
      for (const kill of rest) if (!(await this.live(kill, env))) missed.push(kill);
    };
    await Promise.all(Array.from({ length: this.store.nodes }, node));
    return missed;
  }

  /** Starts a process under load and kills it. @returns whether it died at its point */
  async live(kill: Kill, env: Env = {}): Promise<boolean> {
    this.log(`a process starts, to die at ${describeKill(kill)}`);
    const node = this.start({ ...env, ...toEnv(kill) });
    const isReady = await this.untilReady(node, kill);
    const bombs = new AbortController();
    if (isReady) {
      const load = this.load(node);
      this.plantBomb(node, kill, bombs.signal);
      await node.ended;
      bombs.abort();
      await load;
    }
    const isReached = !('point' in kill) || node.lines.includes(`died at ${kill.point}`);
    this.log(`it died${isReached ? '' : ', but not there'}`);
    return isReached;
  }

  /** Runs a process that is not killed: all runs end, and people settle the calls that a crash left open. */
  async calm(env: Env = {}): Promise<void> {
    this.log('the supervisor kills no more processes');
    const node = await this.serve(env);
    await this.settle(node);
    await node.kill();
  }

  /** Waits until one process reports the end of all runs, and answers all requests to people. */
  async settle(node: ServerProcess): Promise<void> {
    const client = new ChaosClient(node.url, this.name, this.ledger);
    do await this.quiesce(client);
    while (await this.decideAll(client));
    this.log('all is quiet');
    const sessions = await this.open.query<{ id: string }>('SELECT id FROM session');
    for (const { id } of sessions) this.ledger.sessions.set(id, await client.read(id));
  }

  /** The reasons for which models would refuse their requests. */
  refusals(): string[] {
    const asked = this.llm.requests.map(({ messages }) => messages);
    return asked.flatMap((messages) => [...openAiFaults(messages), ...anthropicFaults(messages)]);
  }

  journal(): Promise<ChaosJournal> {
    return readJournal(this.open, this.effectsFile);
  }

  /** Starts a process that is not killed. */
  async serve(env: Env = {}): Promise<ServerProcess> {
    const node = this.start(env);
    await node.waitForLine('ready ');
    return node;
  }

  /** Clients that talk to the process until it dies, or until they are stopped. */
  async load(node: ServerProcess, end: Promise<unknown> = node.ended): Promise<void> {
    const stop = new AbortController();
    const over = Promise.race([node.ended, end]).then(() => stop.abort());
    const client = new ChaosClient(node.url, this.name, this.ledger);
    const talk = async () => {
      // Every failure is due to a temporary or permanent end of a process.
      while (!stop.signal.aborted) await Promise.race([this.converse(client).catch(() => undefined), over]);
    };
    await Promise.all(Array.from({ length: CLIENTS }, talk));
  }

  /** Waits until no run can continue by itself, except for runs that do not end in time. */
  private async quiesce(client: ChaosClient): Promise<void> {
    const followed = new Map<string, Promise<unknown>>();
    let clock = startClock();
    for (let fewest = Infinity; ;) {
      const open = await this.unfinished();
      if (open.length < fewest) {
        fewest = open.length;
        clock.stop();
        clock = startClock();
      }
      for (const id of open.filter((one) => !followed.has(one))) {
        const following = client.follow(id).finally(() => followed.delete(id));
        followed.set(id, following);
        following.catch(() => undefined);
      }
      const next = open.length === 0 ? 'none' : await Promise.race([clock.late, ...open.map((id) => followed.get(id))]);
      if (next === 'late') await this.abandon(followed.keys());
      if (next === 'none' || next === 'late') break;
    }
    clock.stop();
  }

  private async unfinished(): Promise<string[]> {
    const rows = await this.open.query<{ id: string }>(UNFINISHED);
    return rows.map(({ id }) => id).filter((id) => !this.stuck.has(id));
  }

  /** Also records runs that have ended meanwhile, but whose followers received no end. */
  private async abandon(followed: Iterable<string>): Promise<void> {
    const rest = new Set(await this.unfinished());
    for (const id of rest) this.stuck.add(id);
    for (const id of followed) if (!rest.has(id)) this.unheard.add(id);
    this.log(`no end in time of ${[...this.stuck].join(' ')}; no word of the end of ${[...this.unheard].join(' ')}`);
  }

  /** The output of the processes, the oldest first. */
  get logs(): string[] {
    return this.nodes.flatMap(({ lines, stderr }) => [...lines, stderr]);
  }

  private start(env: Env): ServerProcess {
    const node = ServerProcess.start(APP, {
      ...this.open.env,
      DATA_DIR: this.folder,
      EFFECTS_FILE: this.effectsFile,
      CHAOS_WORLD: this.name,
      ...this.llm.env,
      DOCS_ENABLED: 'false',
      LOG_LEVEL: process.env['CHAOS_LOG'] ?? 'error',
      ...env,
    });
    this.nodes.push(node);
    return node;
  }

  /** @returns whether the process is ready; it may die before */
  private async untilReady(node: ServerProcess, kill: Kill): Promise<boolean> {
    const bomb =
      'point' in kill || kill.from === 'ready' ? undefined : setTimeout(() => void node.kill(), kill.afterMs);
    try {
      await node.waitForLine('ready ');
      return true;
    } catch (error) {
      if ((await node.ended).signal !== 'SIGKILL') throw error;
      return false;
    } finally {
      if (!('point' in kill) && kill.from === 'start') await node.ended;
      clearTimeout(bomb);
    }
  }

  private plantBomb(node: ServerProcess, kill: Kill, signal: AbortSignal): void {
    const after = (ms: number) => passes(ms, undefined, { signal }).then(() => node.kill());
    const bomb = 'point' in kill ? after(PATIENCE_MS) : after(kill.afterMs);
    bomb.catch(() => undefined);
    if (!('point' in kill && kill.point.startsWith('handover'))) return;
    // A handover requires a process that receives SIGTERM in the middle of its work.
    void this.llm.waitForRequest(this.llm.requests.length + CLIENTS).then(() => node.kill('SIGTERM'));
  }

  private converse(client: ChaosClient): Promise<void> {
    const at = this.count++;
    return client.converse(this.plans[at % this.plans.length]!, `${this.name}-${at}`);
  }

  /** Answers every waiting request truthfully. @returns whether there was one */
  private async decideAll(client: ChaosClient): Promise<boolean> {
    const waiting = await this.open.query<{ id: string }>(`SELECT id FROM run WHERE status = 'waiting'`);
    const happened = new Set(readEffects(this.effectsFile).map(({ key }) => key));
    const decide = this.decideByTruth(happened);
    const decided = await Promise.all(
      waiting.map(async ({ id }) => {
        const run = await client.get<{ waiting?: WaitingRequest[] }>(`runs/${id}`);
        return client.decide(id, run.waiting ?? [], decide);
      }),
    );
    return decided.includes(true);
  }

  private decideByTruth(happened: ReadonlySet<string>): Decide {
    return (runId, { id, kind, step }) => {
      if (kind === 'approval') return { path: 'approve', body: {} };
      if (kind === 'input') return { path: 'input', body: { value: 'yes' } };
      const hasHappened = happened.has(`${runId}:${step}`);
      this.gaps.set(`${runId} ${id}`, hasHappened);
      const verdict = hasHappened ? { outcome: 'succeeded', result: 'settled' } : { outcome: 'retry' };
      return { path: 'settle', body: verdict };
    };
  }

  log(text: string): void {
    this.story.push(`${String(Date.now() - this.startedAt).padStart(7)} ms  ${text}`);
  }
}

/** Resolves when no run has ended for too long. */
function startClock(): { late: Promise<'late'>; stop: () => void } {
  const stopped = new AbortController();
  const late = passes(CALM_MS, 'late' as const, { signal: stopped.signal });
  late.catch(() => undefined);
  return { late, stop: () => stopped.abort() };
}

function toEnv(kill: Kill): Env {
  if (!('point' in kill)) return {};
  const stop: Env = kill.point.startsWith('handover') ? { SHUTDOWN_TIMEOUT_MS: '0' } : {};
  return { CHAOS_POINT: `${kill.point}:${kill.nth}`, ...stop };
}
