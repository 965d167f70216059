import { readdirSync, readFileSync, watch } from 'node:fs';
import { join } from 'node:path';
import type { Jackdaw } from '../jackdaw.js';

/** The running programs in the ledger of a Jackdaw. */
export function childPrograms({ dataDir }: Jackdaw): number[] {
  const folder = join(dataDir, 'mcp-children');
  return readdirSync(folder).map(
    (name) => (JSON.parse(readFileSync(join(folder, name), 'utf8')) as { pid: number }).pid,
  );
}

/** Waits until this number of programs is left. */
export async function untilChildren(jackdaw: Jackdaw, count: number): Promise<void> {
  const folder = join(jackdaw.dataDir, 'mcp-children');
  const { promise, resolve } = Promise.withResolvers<void>();
  const check = () => {
    if (readdirSync(folder).length === count) resolve();
  };
  const watcher = watch(folder, check);
  check();
  await promise.finally(() => watcher.close());
}

/** Whether a process with this id exists. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
