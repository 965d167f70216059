import { AssertionError } from 'node:assert';
import type { Database } from '../persistence/index.js';
import type { Statement } from '../persistence/statement/index.js';

/**
 * A moment of a run, by the name of a step: `model:1` is the first model call, `tool:2:1` the first call of the second
 * iteration, `claim:2:1` the claim of such a call with effect `once`. `before`: the step has happened and is not
 * recorded. `after`: it is recorded, and nothing else.
 */
export type CrashPoint = { readonly before: string } | { readonly after: string };

const INSERT_STEP = 'INSERT INTO run_step ';

interface RecordedName {
  readonly runId: string;
  readonly name: string;
}

/** The end of a process from the view of its database: no call returns from the point on. */
class CrashTrap {
  private readonly step: string;
  private readonly seen = new Set<string>();
  private readonly reached = Promise.withResolvers<string>();
  private readonly end = Promise.withResolvers<never>();
  private isDead = false;

  constructor(private readonly point: CrashPoint) {
    this.step = 'before' in point ? point.before : point.after;
    this.end.promise.catch(() => undefined);
  }

  /** The run that reached the point. */
  get run(): Promise<string> {
    return this.reached.promise;
  }

  readonly intercept: Parameters<Database['intercept']>[0] = async <Result>(
    call: () => Promise<Result>,
    batch?: readonly Statement[],
  ) => {
    if (this.isDead) return this.end.promise;
    const found = namesIn(batch ?? []).find((recorded) => this.isPoint(recorded));
    if (!found) return call();
    this.isDead = true;
    if ('after' in this.point) await call();
    this.reached.resolve(found.runId);
    return this.end.promise;
  };

  /** Rejects all calls of the dead process, so that its application closes. */
  bury(): void {
    this.isDead = true;
    this.end.reject(new Error('The test has ended this process.'));
  }

  /** The error of a test whose run never reached the point. */
  missed(): AssertionError {
    const names = [...this.seen].join(', ') || 'none';
    return new AssertionError({ message: `No run recorded the step "${this.step}"; recorded steps: ${names}.` });
  }

  private isPoint({ name }: RecordedName): boolean {
    this.seen.add(name);
    return name === this.step;
  }
}

/**
 * Ends a process at a point, as `kill -9` does: nothing after the point becomes durable.
 * @param database of the process
 * @param start starts the run
 * @param close closes the application of the process
 * @returns the id of the run @throws AssertionError if no run reaches the point
 */
export async function crashAt(
  database: Database,
  point: CrashPoint,
  start: () => Promise<unknown>,
  close: () => Promise<unknown>,
): Promise<string> {
  const trap = new CrashTrap(point);
  database.intercept(trap.intercept);
  const started = start().then(() => {
    throw trap.missed();
  });
  const runId = await Promise.race([trap.run, started]);
  const closing = close();
  trap.bury();
  await Promise.allSettled([closing, started]);
  return runId;
}

/** The steps that a batch records. */
function namesIn(batch: readonly Statement[]): RecordedName[] {
  return batch
    .filter(({ sql }) => sql.startsWith(INSERT_STEP))
    .map(({ params }) => ({ runId: String(params[0]), name: String(params[1]) }));
}
