// Loaded by `node --import` before a server: measures the groups of commits on SQLite, and the event loop. SIGUSR2 starts the
// measurement, the next one ends it and prints a line "probe {…}".
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { SqliteDatabase } from '../dist/persistence/sqlite-database.js';

const RESOLUTION_MS = 5;
const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
const { commitGroup } = SqliteDatabase.prototype;
let groups = [];
let started;

/** CPU of this thread since an earlier reading, in ms. */
function milliseconds(before) {
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

SqliteDatabase.prototype.commitGroup = function measured(waiting) {
  const [from, cpu] = [performance.now(), process.threadCpuUsage()];
  try {
    return commitGroup.call(this, waiting);
  } finally {
    groups.push({ ms: performance.now() - from, cpuMs: milliseconds(cpu), batches: waiting.length });
  }
};

process.on('SIGUSR2', () => {
  if (!started) {
    groups = [];
    delay.enable();
    delay.reset();
    started = { cpu: process.threadCpuUsage(), loop: performance.eventLoopUtilization() };
    process.stdout.write('probe started\n');
    return;
  }
  const times = groups.map(({ ms }) => ms).toSorted((a, b) => a - b);
  const at = (q) => times[Math.floor(times.length * q)] ?? 0;
  const found = {
    share: groups.reduce((sum, { cpuMs }) => sum + cpuMs, 0) / milliseconds(started.cpu),
    busy: performance.eventLoopUtilization(started.loop).utilization,
    groupP50: at(0.5),
    groupP99: at(0.99),
    batches: groups.reduce((sum, one) => sum + one.batches, 0) / Math.max(groups.length, 1),
    delayP50: delay.percentile(50) / 1e6 - RESOLUTION_MS,
    delayP99: delay.percentile(99) / 1e6 - RESOLUTION_MS,
  };
  started = undefined;
  process.stdout.write(`probe ${JSON.stringify(found)}\n`);
});
