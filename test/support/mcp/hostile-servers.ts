import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { McpConfig } from '../../../src/mcp/index.js';
import { callTool } from '../direct-calls.js';
import type { JackdawClient } from '../jackdaw-client.js';
import { IS_LONG_FORM } from '../long-form.js';

/** `legacy` is before 2026. */
export type Era = 'legacy' | 'modern';

type Sockets = Readonly<Record<string, number>>;

/** Timeout of a call that is to time out, in ms. */
export const SHORT_TIMEOUT_MS = 1500;
/** Timeout of any other call, in ms. */
const LONG_TIMEOUT_MS = 25_000;
/** Far more than a call's timeout plus one second, for busy machines; far less than any other limit. In ms. */
export const PATIENCE_MS = 10_000;

/** A declared server with the timeout of its calls. */
export type Declared = McpConfig & { readonly timeoutMs: number };

const PROGRAM = new URL('hostile-server.mjs', import.meta.url).pathname;
const WEB = new URL('hostile-web.mjs', import.meta.url).pathname;

/**
 * A program that misbehaves in one of the modes of `hostile-server.mjs`.
 * @param place a text that identifies the process and its children in the list of processes
 */
export function hostile(mode: string, era: Era = 'legacy', place = 'nowhere'): Declared {
  const stdio = { command: process.execPath, args: [PROGRAM, mode, era, place] };
  return { name: mode, enabled: true, type: 'stdio', stdio, timeoutMs: LONG_TIMEOUT_MS };
}

/** The servers of `hostile-web.mjs`, in a process of their own. */
export class HostileWeb {
  private constructor(
    private readonly child: ChildProcess,
    private readonly origin: string,
  ) {}

  static async start(): Promise<HostileWeb> {
    const child = spawn(process.execPath, [WEB], { stdio: ['ignore', 'pipe', 'inherit'] });
    const lines = createInterface({ input: child.stdout });
    const [port] = await new Promise<string[]>((resolve) =>
      lines.once('line', (line) => resolve(line.split(' ').slice(1))),
    );
    return new HostileWeb(child, `http://127.0.0.1:${port}`);
  }

  server(mode: string, era: Era = 'legacy'): Declared {
    const http = { url: `${this.origin}/${mode}/${era}` };
    return { name: mode, enabled: true, type: 'http', http, timeoutMs: LONG_TIMEOUT_MS };
  }

  /** Number of open connections, by mode. */
  async sockets(): Promise<Sockets> {
    return (await (await fetch(`${this.origin}/sockets`)).json()) as Sockets;
  }

  /** Waits until the connections satisfy the condition. @returns them */
  async until(isSo: (sockets: Sockets) => boolean): Promise<Sockets> {
    for (;;) {
      const sockets = await this.sockets();
      if (isSo(sockets)) return sockets;
    }
  }

  stop(): void {
    this.child.kill('SIGKILL');
  }
}

/** The outcome of a call that was made during repeated calls of another server. */
export interface Struck {
  readonly body: Record<string, never>;
  /** Duration of the call, in ms. */
  readonly took: number;
  /** Whether each concurrent answer of the other server was correct. */
  readonly others: readonly boolean[];
}

/** Calls the misbehaving tool, and concurrently that of `steady`, repeatedly. */
export async function strike(jackdaw: JackdawClient, mode: string): Promise<Struck> {
  return (await strikeTogether(jackdaw, [mode])).get(mode)!;
}

/** The same for several tools at once. */
async function strikeTogether(jackdaw: JackdawClient, modes: readonly string[]): Promise<ReadonlyMap<string, Struck>> {
  const began = performance.now();
  const state = { open: modes.length };
  const others: boolean[] = [];
  const all = modes.map(async (mode) => {
    const { body } = await callTool(jackdaw, `${mode}__strike`).finally(() => state.open--);
    return [mode, { body, took: performance.now() - began, others }] as const;
  });
  do {
    const text = `still ${others.length}`;
    const { body } = await callTool(jackdaw, 'steady__echo', { arguments: { text } });
    others.push(body['result'] === text);
  } while (state.open > 0);
  return new Map(await Promise.all(all));
}

/**
 * Calls each tool once and separately, except for the `slow` ones: the first request for one of them calls all of them
 * together, unless the long form runs.
 */
export function striker(jackdaw: JackdawClient, slow: ReadonlySet<string>): (mode: string) => Promise<Struck> {
  let together: Promise<ReadonlyMap<string, Struck>> | undefined;
  return async (mode) => {
    if (IS_LONG_FORM || !slow.has(mode)) return strike(jackdaw, mode);
    together ??= strikeTogether(jackdaw, [...slow]);
    return (await together).get(mode)!;
  };
}
