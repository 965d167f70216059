import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { isDoneWithin } from '../../common/index.js';
import type { McpTransport } from '../mcp-server.types.js';
import type { ChildLedger } from './child-ledger.store.js';
import { toLine } from './line.mapper.js';
import { parseMessage } from './message.parser.js';
import { readAway, readLines } from './paced-lines.parser.js';
import { killGroup } from './process-table.accessor.js';

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

export interface ChildProcessOptions {
  readonly ledger: ChildLedger;
  /** The longest message, in bytes; also how much it may leave unread of what it is sent. */
  readonly maxMessageBytes: number;
  /** The few variables that every program needs. */
  readonly baseEnv: Readonly<Record<string, string>>;
  /** Hears of all that comes, in bytes. */
  readonly onReceived?: (bytes: number) => void;
}

/** How long a program has to end by itself, and then to obey, in ms. */
const GRACE_MS = 500;
/** How long one that cannot be killed is waited for, in ms: one that waits for a disk, or that another user runs. */
const KILL_MS = 2000;
/** How much of what it last wrote to its stderr is kept, in bytes. */
const KEPT_STDERR = 4096;

/**
 * A server as a program of its own: messages are lines of JSON. It leads a process group, so that what it starts ends
 * with it; all that it writes to its stderr is read, so that it never waits for a reader.
 */
export class ChildProcessTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** The SDK knows by the presence of `pid` and `stderr` that a transport is a program. */
  readonly stderr = null;
  /** Why it ended, if it did. */
  fault: string | undefined;
  private child: Child | undefined;
  private readonly gone = Promise.withResolvers<void>();
  private hasEnded = false;
  /** The ids of requests that it has not answered. */
  private readonly asked = new Set<unknown>();
  private tail = Buffer.alloc(0);

  constructor(
    private readonly program: Extract<McpTransport, { kind: 'stdio' }>,
    private readonly options: ChildProcessOptions,
  ) {}

  get pid(): number | null {
    return this.child?.pid ?? null;
  }

  /** The end of what it wrote to its stderr. */
  get lastWords(): string {
    return this.tail.toString('utf8').trim();
  }

  /** @throws Error when it cannot be started */
  async start(): Promise<void> {
    const { ledger } = this.options;
    const { id, env } = ledger.open();
    let child: Child;
    try {
      child = this.spawn(env);
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
    if (child.pid !== undefined) ledger.started(id, child.pid);
    try {
      await spawned;
    } catch (error) {
      await this.ended(child, id);
      throw error;
    }
  }

  /** Never waits: what a program does not read is kept, up to a limit. */
  async send(message: JSONRPCMessage): Promise<void> {
    const { child } = this;
    if (!child || child.stdin.destroyed) throw new Error(this.fault ?? 'it has ended');
    const { writableLength } = child.stdin;
    if (writableLength > this.options.maxMessageBytes) {
      this.fail(`it left ${writableLength} bytes unread of what it was sent`);
      throw new Error(this.fault);
    }
    this.note(message);
    child.stdin.write(toLine(message));
  }

  /** Lets it end by itself, then asks it to, then ends it with all that it has started. */
  async close(): Promise<void> {
    const { child } = this;
    if (!child) return this.hasEnded ? this.gone.promise : undefined;
    if (child.pid === undefined) return;
    child.stdin.end();
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      if (await isDoneWithin(GRACE_MS, this.gone.promise)) return;
      killGroup(child.pid, signal);
    }
    if (await isDoneWithin(KILL_MS, this.gone.promise)) return;
    this.fault ??= 'it cannot be ended';
    this.onclose?.();
  }

  private spawn(mark: Readonly<Record<string, string>>): Child {
    const { command, args, env, cwd } = this.program;
    return spawn(command, args, {
      env: { ...this.options.baseEnv, ...env, ...mark },
      stdio: ['pipe', 'pipe', 'pipe'],
      shell: false,
      detached: true,
      windowsHide: true,
      ...(cwd !== undefined && { cwd }),
    });
  }

  private listen(child: Child, id: string): void {
    readLines(child.stdout, this.options.maxMessageBytes, {
      take: (line) => this.take(line),
      heard: (bytes) => this.options.onReceived?.(bytes),
      failed: (error) => this.fail(error.message),
    });
    readAway(child.stderr, (chunk) => {
      this.tail = Buffer.concat([this.tail, chunk.subarray(-KEPT_STDERR)]).subarray(-KEPT_STDERR);
    });
    child.stdin.on('error', (error) => this.onerror?.(error));
    for (const stream of [child.stdout, child.stderr]) stream.on('error', (error) => this.onerror?.(error));
    child.on('error', (error) => this.onerror?.(error));
    this.expectEnd(child);
    child.once('exit', (code, signal) => {
      this.fault ??= signal ? `it was ended by ${signal}` : `it exited with ${code}`;
      if (child.pid !== undefined) killGroup(child.pid, 'SIGKILL');
      // Its last words are read, but somebody else may hold its pipes open.
      after(GRACE_MS, child, () => letGo(child));
    });
    child.once('close', () => void this.ended(child, id));
  }

  /** A program that neither hears nor speaks is of no use, though it may live. */
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
    this.gone.resolve();
  }

  private note(message: JSONRPCMessage): void {
    if (!('method' in message)) return;
    if ('id' in message) this.asked.add(message.id);
    else if (message.method === 'notifications/cancelled') this.asked.delete(message.params?.['requestId']);
  }

  /** Gives whether it was asked for. */
  private take(line: string): boolean {
    if (line.trim() === '') return false;
    const message = parseMessage(line);
    if (!message || !this.tell(message)) {
      this.onerror?.(new Error('it wrote a line that is no message'));
      return false;
    }
    return 'id' in message && !('method' in message) && this.asked.delete(message.id);
  }

  /** Gives whether it could be looked into: a message may be too deep for that. */
  private tell(message: JSONRPCMessage): boolean {
    try {
      this.onmessage?.(message);
      return true;
    } catch {
      return false;
    }
  }

  /** Ends it at once: it does what cannot be put up with. */
  private fail(fault: string): void {
    const { child } = this;
    if (child?.pid === undefined) return;
    this.fault ??= fault;
    this.onerror?.(new Error(fault));
    killGroup(child.pid, 'SIGKILL');
    letGo(child);
  }
}

function letGo({ stdin, stdout, stderr }: Child): void {
  for (const stream of [stdin, stdout, stderr]) stream.destroy();
}

/** Does something when a program still has not come to its end. */
function after(ms: number, child: Child, work: () => void): void {
  const timer = setTimeout(work, ms);
  child.once('close', () => clearTimeout(timer));
}
