import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { McpTransport } from '../mcp-server.types.js';
import { type ChildLedger, killGroup } from './child-ledger.store.js';
import { LineParser } from './line.parser.js';

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

export interface ChildProcessOptions {
  readonly ledger: ChildLedger;
  /** The longest message, in bytes. */
  readonly maxMessageBytes: number;
  /** The few variables that every program needs. */
  readonly baseEnv: Readonly<Record<string, string>>;
  /** Hears of all that comes, in bytes. */
  readonly onReceived?: (bytes: number) => void;
  /** Reads one message. @throws Error for what is none */
  readonly parse: (line: string) => JSONRPCMessage;
}

/** How long a program has to end by itself, and then to obey, in ms. */
const GRACE_MS = 500;
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
    const { command, args, env, cwd } = this.program;
    const child: Child = spawn(command, args, {
      env: { ...this.options.baseEnv, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      shell: false,
      detached: true,
      windowsHide: true,
      ...(cwd !== undefined && { cwd }),
    });
    this.child = child;
    if (child.pid !== undefined) this.options.ledger.add(child.pid);
    const spawned = new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    this.listen(child);
    await spawned;
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const { child } = this;
    if (!child || child.stdin.destroyed) throw new Error(this.fault ?? 'it has ended');
    if (child.stdin.write(`${JSON.stringify(message)}\n`)) return;
    await new Promise<void>((resolve) => {
      child.stdin.once('drain', resolve);
      child.once('close', () => resolve());
    });
  }

  /** Lets it end by itself, then asks it to, then ends it with all that it has started. */
  async close(): Promise<void> {
    const { child } = this;
    if (!child || child.pid === undefined) return;
    child.stdin.end();
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      if (await isDone(this.gone.promise, GRACE_MS)) break;
      killGroup(child.pid, signal);
    }
    await this.gone.promise;
  }

  private listen(child: Child): void {
    const lines = new LineParser(this.options.maxMessageBytes);
    child.stdout.on('data', (chunk: Buffer) => this.read(lines, chunk));
    child.stderr.on('data', (chunk: Buffer) => {
      this.tail = Buffer.concat([this.tail, chunk.subarray(-KEPT_STDERR)]).subarray(-KEPT_STDERR);
    });
    for (const stream of [child.stdin, child.stdout, child.stderr])
      stream.on('error', (error) => this.onerror?.(error));
    child.on('error', (error) => this.onerror?.(error));
    child.once('exit', (code, signal) => {
      this.fault ??= signal ? `it was ended by ${signal}` : `it exited with ${code}`;
      if (child.pid !== undefined) killGroup(child.pid, 'SIGKILL');
      this.drain(child);
    });
    child.once('close', () => this.ended(child));
  }

  /** Its last words are read, but somebody else may hold its pipes open. */
  private drain(child: Child): void {
    const timer = setTimeout(() => {
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    }, GRACE_MS);
    child.once('close', () => clearTimeout(timer));
  }

  private ended({ pid }: Child): void {
    if (pid !== undefined) this.options.ledger.remove(pid);
    this.child = undefined;
    this.gone.resolve();
    this.onclose?.();
  }

  private read(lines: LineParser, chunk: Buffer): void {
    this.options.onReceived?.(chunk.length);
    try {
      for (const line of lines.push(chunk)) this.take(line);
    } catch (error) {
      this.fault = (error as Error).message;
      this.onerror?.(error as Error);
      this.kill();
    }
  }

  private take(line: string): void {
    if (line.trim() === '') return;
    let message: JSONRPCMessage;
    try {
      message = this.options.parse(line);
    } catch {
      this.onerror?.(new Error('it wrote a line that is no message'));
      return;
    }
    this.onmessage?.(message);
  }

  private kill(): void {
    if (this.child?.pid !== undefined) killGroup(this.child.pid, 'SIGKILL');
  }
}

async function isDone(work: Promise<void>, ms: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), ms);
  void work.then(() => resolve(true));
  return promise.finally(() => clearTimeout(timer));
}
