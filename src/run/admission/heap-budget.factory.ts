import { Log } from '../../errors/index.js';
import { HeapBudget, steadyNow } from '../../kernel/index.js';

/** Least time between two lines about refusals, in ms. */
const REPORT_MS = 60_000;
const MIB = 1_048_576;

/** The budget of this process's heap; logs refusals. */
export function createHeapBudget(): HeapBudget {
  const logger = new Log('HeapBudget');
  let reportedAt = Number.NEGATIVE_INFINITY;
  const budget: HeapBudget = new HeapBudget(undefined, () => {
    if (steadyNow() - reportedAt < REPORT_MS) return;
    reportedAt = steadyNow();
    const [used, limit] = [budget.used, budget.limit].map((bytes) => Math.round(bytes / MIB));
    logger.warn(
      `Heap budget exhausted (${used} of ${limit} MiB reserved): new work is refused with HEAP_EXHAUSTED, large replies and results fail. Send smaller requests, or raise --max-old-space-size`,
    );
  });
  return budget;
}
