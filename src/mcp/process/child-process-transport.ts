import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { isDoneWithin } from '../../common/index.js';
import type { McpTransport } from '../mcp-server.types.js';
import type { ChildLedger } from './child-ledger.store.js';
import { toLine } from './line.mapper.js';
import { parseMessage } from './message.parser.js';
import { discard, readLines } from './paced-lines.parser.js';
import { killGroup } from './process-table.accessor.js';

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

export interface ChildProcessOptions {
  readonly ledger: ChildLedger;
  /** Maximum size of a message, and of the program's unread input, in bytes. */
  readonly maxMessageBytes: number;
  /** Basic variables that every program needs. */
  readonly baseEnv: Readonly<Record<string, string>>;
  /** Receives the number of received bytes. */
  readonly onReceived?: (bytes: number) => void;
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
  /** Ids of unanswered requests. */
  private readonly unanswered = new Set<unknown>();
  private tail = Buffer.alloc(0);

  constructor(
    private readonly program: Extract<McpTransport, { kind: 'stdio' }>,
    private readonly options: ChildProcessOptions,
  ) {}

  get pid(): number | null {
    return this.child?.pid ?? null;
  }

  /** The end of its stderr output. */
  get lastWords(): string {
    return this.tail.toString('utf8').trim();
  }

  /** @throws Error if the program cannot be started */
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
    child.stdin.write(toLine(message));
  }

  /** Waits for the program to end, then sends SIGTERM, then kills it with its descendants. */
  async close(): Promise<void> {
    const { child } = this;
    if (!child) return this.hasEnded ? this.exited.promise : undefined;
    if (child.pid === undefined) return;
    child.stdin.end();
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      if (await isDoneWithin(GRACE_MS, this.exited.promise)) return;
      killGroup(child.pid, signal);
    }
    if (await isDoneWithin(KILL_MS, this.exited.promise)) return;
    this.fault ??= 'it cannot be killed';
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
      if (child.pid !== undefined) killGroup(child.pid, 'SIGKILL');
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
    if ('id' in message) this.unanswered.add(message.id);
    else if (message.method === 'notifications/cancelled') this.unanswered.delete(message.params?.['requestId']);
  }

  /** @returns whether the line answers a request */
  private receive(line: string): boolean {
    if (line.trim() === '') return false;
    const message = parseMessage(line);
    if (!message || !this.deliver(message)) {
      this.onerror?.(new Error('it wrote a line that is not a message'));
      return false;
    }
    return 'id' in message && !('method' in message) && this.unanswered.delete(message.id);
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
    killGroup(child.pid, 'SIGKILL');
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
