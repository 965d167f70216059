import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { join } from 'node:path';
import { isDoneWithin } from '../../kernel/index.js';
import { wellFormed } from '../../kernel/text/index.js';
import { endGroup, endTree } from '../../kernel/platform/process-tree.js';
import { type Program as Child, spawnProgram } from '../../kernel/platform/program.js';
import type { McpTransport } from '../mcp-server.types.js';
import type { ChildLedger } from './child-ledger.store.js';
import { parseMessage } from './message.parser.js';
import { discard, readLines } from './paced-lines.parser.js';
import { withRawResult } from './raw-result.mapper.js';

/**
 * Characters that many libraries, such as Node's `readline`, treat as a line end, and that JSON allows unescaped in
 * strings.
 */
const LINE_ENDS = /[\u0085\u2028\u2029]/g;

/** Converts a message to one line of JSON, for any definition of a line end. */
export function toLine(message: unknown): string {
  const json = JSON.stringify(message);
  return `${json.replace(LINE_ENDS, (end) => `\\u${end.charCodeAt(0).toString(16).padStart(4, '0')}`)}\n`;
}

export interface ChildProcessOptions {
  readonly ledger: ChildLedger;
  /** Maximum size of a message, and of the program's unread input, in bytes. */
  readonly maxMessageBytes: number;
  /** Basic variables that every program needs. */
  readonly baseEnv: Readonly<Record<string, string>>;
  /** Receives the number of received bytes. */
  readonly onReceived?: (bytes: number) => void;
}

/** Variables of package managers and browser installers, and their caches' places in a home folder. */
const CACHES: Readonly<Record<string, readonly string[]>> = {
  npm_config_cache: ['.npm'],
  COREPACK_HOME: ['.cache', 'node', 'corepack'],
  PIP_CACHE_DIR: ['.cache', 'pip'],
  UV_CACHE_DIR: ['.cache', 'uv'],
  UV_PYTHON_INSTALL_DIR: ['.local', 'share', 'uv', 'python'],
  PLAYWRIGHT_BROWSERS_PATH: ['.cache', 'ms-playwright'],
  PUPPETEER_CACHE_DIR: ['.cache', 'puppeteer'],
};

/** @param former the home folder whose caches stay in use */
function homeEnv(home: string, former: string | undefined): Readonly<Record<string, string>> {
  const caches = former === undefined ? [] : Object.entries(CACHES);
  return {
    HOME: home,
    USERPROFILE: home,
    ...Object.fromEntries(caches.map(([name, place]) => [name, join(former!, ...place)])),
  };
}

/** Time for a program to end by itself, and then after SIGTERM, in ms. */
const GRACE_MS = 500;
/** Time to wait for a program that cannot be killed, in ms: it waits for a disk, or runs as another user. */
const KILL_MS = 2000;
/** Maximum size of the stored end of its stderr, in bytes. */
const MAX_STDERR_BYTES = 4096;

/**
 * A server that is a program: messages are lines of JSON. It leads a process group, so that its descendants end with
 * it. Its stderr is always read, so that it never blocks on it.
 */
export class ChildProcessTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** With `pid` and `stderr` the SDK detects that a transport is a program. */
  readonly stderr = null;
  /** Why the program ended, if it has. */
  fault: string | undefined;
  private child: Child | undefined;
  private readonly exited = Promise.withResolvers<void>();
  private hasEnded = false;
  /** Methods of unanswered requests, by their ids. */
  private readonly unanswered = new Map<unknown, string>();
  private tail = Buffer.alloc(0);

  constructor(
    private readonly program: Extract<McpTransport, { kind: 'stdio' }>,
    private readonly options: ChildProcessOptions,
  ) {}

  get pid(): number | null {
    return this.child?.pid ?? null;
  }

  /** The end of its stderr output: whole lines, as the start of a cut one may be the end of a secret. */
  get lastWords(): string {
    const text = this.tail.toString('utf8');
    return (this.tail.length < MAX_STDERR_BYTES ? text : text.slice(text.indexOf('\n') + 1)).trim();
  }

  /** @throws Error if the program cannot be started */
  async start(): Promise<void> {
    const { ledger } = this.options;
    const { id, env } = ledger.open();
    let child: Child;
    try {
      child = this.spawn(id, env);
    } catch (error) {
      await ledger.close(id, undefined);
      throw error;
    }
    this.child = child;
    const spawned = new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    this.listen(child, id);
    // The use of a connection holds the process, not the program.
    for (const handle of [child, child.stdin, child.stdout, child.stderr]) (handle as Pick<Child, 'unref'>).unref();
    if (child.pid !== undefined) ledger.started(id, child.pid);
    try {
      await spawned;
    } catch (error) {
      await this.ended(child, id);
      throw error;
    }
  }

  /** Does not wait for the program: unread input is buffered, up to a limit. */
  async send(message: JSONRPCMessage): Promise<void> {
    const { child } = this;
    if (!child || child.stdin.destroyed) throw new Error(this.fault ?? 'it has ended');
    const { writableLength } = child.stdin;
    if (writableLength > this.options.maxMessageBytes) {
      this.fail(`it left ${writableLength} bytes of its input unread`);
      throw new Error(this.fault);
    }
    this.note(message);
    child.stdin.write(toLine(wellFormed(message)));
  }

  /** Waits for the program to end, then sends SIGTERM, then kills it with its descendants. */
  async close(): Promise<void> {
    const { child } = this;
    if (!child) return this.hasEnded ? this.exited.promise : undefined;
    // It could not be started: its error event follows.
    if (child.pid === undefined) return this.exited.promise;
    child.stdin.end();
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      if (await isDoneWithin(GRACE_MS, this.exited.promise)) return;
      endTree(child.pid, signal);
    }
    if (await isDoneWithin(KILL_MS, this.exited.promise)) return;
    this.fault ??= 'it cannot be killed';
    this.onclose?.();
  }

  private spawn(id: string, mark: Readonly<Record<string, string>>): Child {
    const { command, args, env, cwd, hasOwnHome } = this.program;
    const { ledger, baseEnv } = this.options;
    const home = hasOwnHome ? homeEnv(ledger.makeHome(id), baseEnv['HOME'] ?? baseEnv['USERPROFILE']) : {};
    return spawnProgram(command, args, {
      env: { ...baseEnv, ...home, ...env, ...mark },
      ...(cwd !== undefined && { cwd }),
    });
  }

  private listen(child: Child, id: string): void {
    readLines(child.stdout, this.options.maxMessageBytes, {
      receive: (line) => this.receive(line),
      received: (bytes) => this.options.onReceived?.(bytes),
      failed: (error) => this.fail(error.message),
    });
    discard(child.stderr, (chunk) => {
      this.tail = Buffer.concat([this.tail, chunk.subarray(-MAX_STDERR_BYTES)]).subarray(-MAX_STDERR_BYTES);
    });
    child.stdin.on('error', (error) => this.onerror?.(error));
    for (const stream of [child.stdout, child.stderr]) stream.on('error', (error) => this.onerror?.(error));
    child.on('error', (error) => this.onerror?.(error));
    this.expectEnd(child);
    child.once('exit', (code, signal) => {
      this.fault ??= signal ? `it was terminated by ${signal}` : `it exited with ${code}`;
      if (child.pid !== undefined) endGroup(child.pid);
      // Reads its last output, although another process may keep its pipes open.
      after(GRACE_MS, child, () => destroyStreams(child));
    });
    child.once('close', () => void this.ended(child, id));
  }

  /** A program that closes stdin or stdout is useless, even if it still runs. */
  private expectEnd(child: Child): void {
    child.stdout.once('end', () => after(GRACE_MS, child, () => this.fail('it closed its stdout')));
    child.stdin.once('error', () => after(GRACE_MS, child, () => this.fail('it closed its stdin')));
  }

  private async ended({ pid }: Child, id: string): Promise<void> {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.child = undefined;
    this.onclose?.();
    await this.options.ledger.close(id, pid).catch((error: unknown) => this.onerror?.(error as Error));
    this.exited.resolve();
  }

  private note(message: JSONRPCMessage): void {
    if (!('method' in message)) return;
    if ('id' in message) this.unanswered.set(message.id, message.method);
    else if (message.method === 'notifications/cancelled') this.unanswered.delete(message.params?.['requestId']);
  }

  /** @returns whether the line answers a request */
  private receive(line: string): boolean {
    if (line.trim() === '') return false;
    const message = parseMessage(line);
    const isResponse = message && 'id' in message && !('method' in message);
    const method = isResponse ? this.unanswered.get(message.id) : undefined;
    if (!message || !this.deliver(withRawResult(message, method))) {
      this.onerror?.(new Error('it wrote a line that is not a message'));
      return false;
    }
    return isResponse ? this.unanswered.delete(message.id) : false;
  }

  /** @returns whether the message could be processed; it may be nested too deeply */
  private deliver(message: JSONRPCMessage): boolean {
    try {
      this.onmessage?.(message);
      return true;
    } catch {
      return false;
    }
  }

  /** Kills the program at once, after an unacceptable output. */
  private fail(fault: string): void {
    const { child } = this;
    if (child?.pid === undefined) return;
    this.fault ??= fault;
    this.onerror?.(new Error(fault));
    endTree(child.pid, 'SIGKILL');
    destroyStreams(child);
  }
}

function destroyStreams({ stdin, stdout, stderr }: Child): void {
  for (const stream of [stdin, stdout, stderr]) stream.destroy();
}

/** Runs work if the program has not ended after `ms`. */
function after(ms: number, child: Child, work: () => void): void {
  const timer = setTimeout(work, ms);
  child.once('close', () => clearTimeout(timer));
}
