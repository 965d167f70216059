import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { mergeMetrics } from './metric-text.mapper.js';
import { SupervisorLog } from './supervisor-log.js';
import { SupervisorPorts } from './supervisor-ports.js';
import type { WorkerReady } from './worker-message.types.js';
import { type WorkerEnd, WorkerProcess, type WorkerRole } from './worker-process.js';

/** A worker that ends sooner after its start than this has failed, in ms. */
const STABLE_MS = 10_000;
/** Delay of the next start after the second failure, doubled with each further one, and its limit, in ms. */
const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 5_000;
/** Longest wait of a retiring worker for the requests on its connections, in ms. */
const RETIRE_LIMIT_MS = 60_000;
/** Time after its limit in which a worker ends itself, in ms. */
const KILL_AFTER_MS = 2_000;

/** The first workers did not start. The worker has printed the cause. */
export class StartFailure extends Error {
  override readonly name = 'StartFailure';

  /** @param code the exit code of the worker that ended */
  constructor(readonly code: number) {
    super(`A worker ended before it was ready (${code}).`);
  }
}

/** Starts workers of this program that share its port, replaces those that end, and ends them. */
export class Supervisor {
  private readonly workers = new Set<WorkerProcess>();
  /** For sockets of workers. */
  private readonly folder = mkdtempSync(join(tmpdir(), 'jackdaw-'));
  private readonly ports = new SupervisorPorts(this.workers, () => this.metrics());
  private first: WorkerReady | undefined;
  private failures = 0;
  private phase: 'starting' | 'running' | 'stopping' = 'starting';
  private rolling: Promise<void> | undefined;

  constructor(
    private readonly count: number,
    private readonly log: SupervisorLog,
  ) {}

  /**
   * Starts the first worker, then the others, so that a wrong configuration is reported once.
   * @returns the URL of the server
   * @throws StartFailure if one of them ends before it is ready
   */
  async start(): Promise<string> {
    this.first = await this.started(this.fork('serving'));
    const { settings, lines } = this.first;
    this.log.use(settings);
    await this.ports.open(settings);
    const others = Array.from({ length: this.count - 1 }, () => this.fork('serving'));
    await Promise.all(others.map((worker) => this.started(worker)));
    this.run();
    for (const { level, text } of lines) this.log.write(level, text, 'Bootstrap');
    for (const line of this.ports.lines) this.log.write('info', line);
    return settings.url;
  }

  /** Replaces the workers one by one: each ends when its successor is ready. A second call waits for the first one. */
  restart(): Promise<void> {
    if (this.phase !== 'running') return Promise.resolve();
    this.rolling ??= this.replaceAll().finally(() => (this.rolling = undefined));
    return this.rolling;
  }

  /** Ends all workers as a signal ends a server. @returns whether all ended by themselves, with the exit code 0 */
  async stop(): Promise<boolean> {
    this.phase = 'stopping';
    this.ports.drain();
    const workers = [...this.workers];
    for (const worker of workers) worker.stop();
    const limitMs = this.stopLimitMs;
    const timer = setTimeout(() => {
      for (const worker of workers) worker.kill();
    }, limitMs);
    const ends = await Promise.all(workers.map(({ ended }) => ended));
    clearTimeout(timer);
    await this.ports.close();
    return ends.every(({ code }) => code === 0);
  }

  /** Ends all workers at once, and removes the files. */
  kill(): void {
    for (const worker of this.workers) worker.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private get stopLimitMs(): number {
    return (this.first?.settings.stopLimitMs ?? 0) + KILL_AFTER_MS;
  }

  /** @throws StartFailure after a signal during the start */
  private run(): void {
    if (this.phase !== 'starting') throw new StartFailure(1);
    this.phase = 'running';
  }

  private async started(worker: WorkerProcess): Promise<WorkerReady> {
    const ready = await worker.ready;
    if (ready) return ready;
    const { code } = await worker.ended;
    throw new StartFailure(code === 0 ? 1 : code);
  }

  private fork(role: WorkerRole): WorkerProcess {
    const used = new Set([...this.workers].map(({ number }) => number));
    let number = 1;
    while (used.has(number)) number++;
    const worker = new WorkerProcess(number, role, this.folder, () => this.metrics());
    this.workers.add(worker);
    void this.followEnd(worker);
    return worker;
  }

  private async followEnd(worker: WorkerProcess): Promise<void> {
    const end = await worker.ended;
    this.workers.delete(worker);
    if (this.phase === 'running') this.onEnd(worker, end);
  }

  private onEnd(worker: WorkerProcess, { reason }: WorkerEnd): void {
    if (worker.role !== 'serving') return;
    const ageMs = performance.now() - worker.startedAt;
    this.failures = worker.isReady && ageMs >= STABLE_MS ? 0 : this.failures + 1;
    const delayMs = this.failures < 2 ? 0 : jittered(FIRST_DELAY_MS * 2 ** (this.failures - 2));
    this.log.write('error', `${worker.name} ended (${reason}); another one starts in ${delayMs} ms`);
    void this.replaceEnded(delayMs);
  }

  private async replaceEnded(delayMs: number): Promise<void> {
    await pause(delayMs, undefined, { ref: false });
    if (this.phase !== 'running' || this.serving.length >= this.count) return;
    const worker = this.fork('serving');
    if (await worker.ready) this.log.write('info', `${worker.name} is ready`);
  }

  private get serving(): WorkerProcess[] {
    return [...this.workers].filter(({ role }) => role === 'serving');
  }

  private async replaceAll(): Promise<void> {
    const present = this.serving;
    this.log.write('info', `Rolling restart of ${present.length} workers`);
    for (const worker of present) {
      if (!(await this.replace(worker))) return;
    }
    this.log.write('info', 'The rolling restart is finished');
  }

  /** @returns false if no successor could be started */
  private async replace(worker: WorkerProcess): Promise<boolean> {
    const successor = this.fork('starting');
    const ready = await successor.ready;
    if (this.phase !== 'running') return false;
    if (!ready) {
      const { reason } = await successor.ended;
      const message = `${successor.name} ended before it was ready (${reason}); the rolling restart is abandoned, the other workers continue`;
      this.log.write('error', message);
      return false;
    }
    successor.role = 'serving';
    // Unless it has ended meanwhile, and nothing else replaced it.
    if (this.serving.length > this.count) await this.retire(this.workers.has(worker) ? worker : successor);
    this.log.write('info', `${successor.name} is ready`);
    return true;
  }

  private async retire(worker: WorkerProcess): Promise<void> {
    worker.retire(RETIRE_LIMIT_MS);
    const timer = setTimeout(() => worker.kill(), RETIRE_LIMIT_MS + this.stopLimitMs);
    await worker.ended;
    clearTimeout(timer);
  }

  private async metrics(): Promise<string> {
    const ready = [...this.workers].filter(({ isReady }) => isReady);
    const texts = await Promise.all(ready.map(async (worker) => [worker.number, await worker.metrics()] as const));
    return mergeMetrics(texts.flatMap(([number, text]) => (text === null ? [] : [[number, text]])));
  }
}

/** Between half and all of the delay, so that workers of several machines do not start at once. */
function jittered(ms: number): number {
  return Math.round(Math.min(ms, MAX_DELAY_MS) * (0.5 + Math.random() / 2));
}
