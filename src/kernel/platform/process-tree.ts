import { spawnSync } from 'node:child_process';

type EndSignal = 'SIGTERM' | 'SIGKILL';

/** Maximum time of `taskkill`, in ms. */
const TASKKILL_MS = 2_000;

/** Sends a signal to a process, or to a group by its negative id. @returns whether there was a process */
export function sendSignal(pid: number, signal: EndSignal): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/**
 * Ends a program with its descendants: by its process group, or by `taskkill` on Windows, which has no signals and so
 * ends it at once. Where neither is possible it ends the program alone.
 * @param pid a program of `spawnProgram` that still runs: the system may reuse the id of an ended one
 * @returns whether there was a process
 */
export function endTree(pid: number, signal: EndSignal): boolean {
  const isEnded = process.platform === 'win32' ? taskkill(pid) : sendSignal(-pid, signal);
  return isEnded || sendSignal(pid, signal);
}

/** Ends the descendants of an ended program that are in its process group. On Windows they cannot be found. */
export function endGroup(leader: number): boolean {
  return process.platform !== 'win32' && sendSignal(-leader, 'SIGKILL');
}

function taskkill(pid: number): boolean {
  const options = { stdio: 'ignore', windowsHide: true, timeout: TASKKILL_MS } as const;
  return spawnSync('taskkill', ['/T', '/F', '/PID', String(pid)], options).status === 0;
}
