import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

const require = createRequire(import.meta.url);
const FOLDER = dirname(require.resolve('@modelcontextprotocol/server-sequential-thinking/package.json'));

type Arguments = Readonly<Record<string, unknown>>;

/** The outcome of a call: `structured` only for a success. */
export interface ThinkingResult {
  readonly content: readonly { readonly text: string }[];
  readonly isError?: boolean;
  readonly structuredContent?: Arguments;
}

export interface ThinkingDefinition {
  readonly name: string;
  readonly inputSchema: { readonly properties: Record<string, object>; readonly required: readonly string[] };
  readonly outputSchema: { readonly properties: Record<string, object>; readonly required: readonly string[] };
}

interface Thinker {
  /** Expects validated arguments. */
  processThought(input: Arguments): ThinkingResult;
}

/** Loads the class of the public server, without its log on stderr; one instance is one session. */
export async function loadReference(): Promise<() => Thinker> {
  process.env['DISABLE_THOUGHT_LOGGING'] = 'true';
  const path: string = join(FOLDER, 'dist/lib.js');
  const { SequentialThinkingServer } = (await import(path)) as { SequentialThinkingServer: new () => Thinker };
  return () => new SequentialThinkingServer();
}

/** The public server in a process of its own, with one JSON-RPC message a line. */
export class ThinkingServer {
  private readonly waiting = new Map<number, (result: unknown) => void>();
  private last = 0;

  private constructor(private readonly child: ChildProcessByStdio<Writable, Readable, null>) {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const { id, result } = JSON.parse(line) as { id: number; result: unknown };
      this.waiting.get(id)?.(result);
    });
  }

  static async start(): Promise<ThinkingServer> {
    const child = spawn(process.execPath, [join(FOLDER, 'dist/index.js')], { stdio: ['pipe', 'pipe', 'ignore'] });
    const server = new ThinkingServer(child);
    const clientInfo = { name: 'test', version: '1' };
    await server.request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
    server.send({ method: 'notifications/initialized' });
    return server;
  }

  async definition(): Promise<ThinkingDefinition> {
    const { tools } = (await this.request('tools/list', {})) as { tools: ThinkingDefinition[] };
    return tools[0]!;
  }

  async call(args: Arguments): Promise<ThinkingResult> {
    return (await this.request('tools/call', { name: 'sequentialthinking', arguments: args })) as ThinkingResult;
  }

  async stop(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.child.once('exit', () => resolve());
    this.child.kill();
    await promise;
  }

  private async request(method: string, params: object): Promise<unknown> {
    const id = ++this.last;
    const { promise, resolve } = Promise.withResolvers<unknown>();
    this.waiting.set(id, resolve);
    this.send({ id, method, params });
    return promise.finally(() => this.waiting.delete(id));
  }

  private send(message: object): void {
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }
}
