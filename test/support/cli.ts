import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { inTime } from './patience.js';
import { CODE_CACHE, program } from './process.js';

export interface CliOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Standard input; by default empty. */
  readonly input?: string;
}

export interface CliEnd {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

const PROGRAM = program('cli');

function environment(env: CliOptions['env']): Record<string, string> {
  const { PATH = '', HOME = '' } = process.env;
  return { PATH, HOME, NODE_COMPILE_CACHE: CODE_CACHE, LLM_PROVIDER: 'offline', ...env };
}

/** Starts the built command line, with these variables and no other of ours. */
export function startCli(args: readonly string[], { env, cwd }: CliOptions = {}): ChildProcess {
  return spawn(process.execPath, [PROGRAM, ...args], { env: environment(env), ...(cwd !== undefined && { cwd }) });
}

export async function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliEnd> {
  const child = startCli(args, options);
  child.stdin!.end(options.input ?? '');
  const [out, err, [code]] = await Promise.all([text(child.stdout!), text(child.stderr!), once(child, 'close')]);
  return { code: code as number | null, out, err };
}

/** The built command line in a pseudo-terminal, by `script` of util-linux. */
export class CliTerminal {
  output = '';
  private readonly waiters = new Set<() => void>();
  private readonly ended: Promise<number | null>;
  private hasEnded = false;

  private constructor(private readonly child: ChildProcess) {
    child.stdout!.setEncoding('utf8').on('data', (chunk: string) => {
      this.output += chunk;
      this.check();
    });
    this.ended = once(child, 'close').then(([code]) => {
      this.hasEnded = true;
      this.check();
      return code as number | null;
    });
  }

  /** @param width columns of the terminal */
  static start(args: readonly string[], { env, cwd }: CliOptions = {}, width = 100): CliTerminal {
    const words = [process.execPath, PROGRAM, ...args].map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`);
    const command = `stty cols ${width} rows 40; exec ${words.join(' ')}`;
    return new CliTerminal(
      spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
        env: { ...environment(env), TERM: 'xterm', SHELL: '/bin/sh' },
        ...(cwd !== undefined && { cwd }),
      }),
    );
  }

  /** Waits for a text after those of earlier calls. Throws when the program ends without it. */
  async waitFor(expected: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const check = () => {
      if (!this.output.includes(expected) && !this.hasEnded) return;
      this.waiters.delete(check);
      resolve();
    };
    this.waiters.add(check);
    check();
    await inTime(promise, () => `no "${expected}" in the output:\n${this.output}`);
    const at = this.output.indexOf(expected);
    if (at === -1) throw new Error(`The program ended without "${expected}":\n${this.output}`);
    this.output = this.output.slice(at + expected.length);
  }

  type(keys: string): void {
    this.child.stdin!.write(keys);
  }

  /** Waits for the end. @returns the exit code */
  end(): Promise<number | null> {
    return this.ended;
  }

  private check(): void {
    for (const waiter of this.waiters) waiter();
  }
}
