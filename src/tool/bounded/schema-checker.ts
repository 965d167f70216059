import { createHash } from 'node:crypto';
import type { SchemaCheckRequest } from './schema-check.types.js';
import { SchemaThread } from './schema-thread.client.js';

/** Maximum time of a check that other checks wait for, in ms. */
const FAST_MS = 100;
/** Maximum time of a check, in ms. */
export const SLOW_MS = 2000;
const MAX_WAITING = 10_000;
const MAX_WAITING_SLOW = 16;
/** Number of successive late checks after which a schema is slow. */
const LATE_CHECKS = 2;
/** Maximum number of remembered schemas with late checks. */
const MAX_LATE = 1000;

type Answer = Awaited<ReturnType<SchemaThread['ask']>>;

/**
 * Checks values against untrusted schemas outside of the main thread. A check that exceeds `fastMs` ends its thread; a
 * second thread with more time repeats it. After `LATE_CHECKS` of these, all checks of the schema start in the second
 * thread. Other checks wait no longer than `fastMs` and the start of a thread.
 */
export class SchemaChecker {
  private readonly fast: SchemaThread;
  private readonly slow: SchemaThread;
  /** Numbers of successive late checks in the fast thread, by key. */
  private readonly late = new Map<string, number>();

  /**
   * @param fastMs maximum time of a check that other checks wait for, in ms
   * @param slowMs maximum time of a check, in ms
   */
  constructor(fastMs: number, slowMs: number) {
    this.fast = new SchemaThread(fastMs, MAX_WAITING);
    this.slow = new SchemaThread(slowMs, MAX_WAITING_SLOW, true);
  }

  warm(): void {
    this.fast.warm();
  }

  /** Never rejects. */
  async ask(request: SchemaCheckRequest): Promise<Answer> {
    const { key } = request;
    if ((this.late.get(key) ?? 0) < LATE_CHECKS) {
      const answer = await this.fast.ask(request);
      if (answer.kind === 'checked') this.late.delete(key);
      if (answer.kind !== 'late') return answer;
      this.addLate(key);
    }
    return this.slow.ask(request);
  }

  private addLate(key: string): void {
    const late = (this.late.get(key) ?? 0) + 1;
    if (this.late.size >= MAX_LATE) this.late.clear();
    this.late.set(key, late);
  }

  /** Ends idle threads; another application of the process may use the others. A later check starts them again. */
  release(): void {
    this.fast.release();
    this.slow.release();
  }
}

/** Shared by all applications of the process; it has no thread before the first untrusted schema that is not plain. */
export const schemaChecker = new SchemaChecker(FAST_MS, SLOW_MS);

export function schemaKey(schema: unknown): string {
  return createHash('sha256').update(JSON.stringify(schema)).digest('base64url');
}
