import spawn from 'cross-spawn';
import type { ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

/** A program with pipes. */
export type Program = ChildProcessByStdio<Writable, Readable, Readable>;

export interface ProgramOptions {
  /** All of its variables. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/**
 * Starts a program without a shell. On Windows, scripts such as `npx.cmd` are started as on other systems. It leads a
 * process group; on Windows it ends with this process instead.
 */
export function spawnProgram(command: string, args: readonly string[], { env, cwd }: ProgramOptions): Program {
  return spawn(command, [...args], {
    env: { ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
    shell: false,
    detached: process.platform !== 'win32',
    windowsHide: true,
    ...(cwd !== undefined && { cwd }),
  }) as Program;
}
