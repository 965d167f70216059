import { execFileSync } from 'node:child_process';
import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { program, ServerProcess } from './process.js';

interface WorkerAnswer {
  readonly status: number;
  readonly body: Record<string, string>;
}

/** Interval of looks at processes, in ms. */
const LOOK_MS = 250;

/** A program of `WORKERS`, and its processes. */
export class WorkerServer {
  private constructor(readonly process: ServerProcess) {}

  /** Starts `workers-app.mjs` and waits until all workers listen. */
  static async start(env: Readonly<Record<string, string>>): Promise<WorkerServer> {
    const server = new WorkerServer(ServerProcess.start(program('workers-app'), env));
    await server.process.waitForLine('ready ');
    return server;
  }

  /** The ids of the worker processes. */
  pids(): number[] {
    const lines = execFileSync('ps', ['-A', '-o', 'ppid=,pid=,stat='], { encoding: 'utf8' }).trim().split('\n');
    const processes = lines.map((line) => line.trim().split(/\s+/));
    const ofServer = processes.filter(([parent, , state]) => Number(parent) === this.process.pid && state !== 'Z');
    return ofServer.map(([, pid]) => Number(pid));
  }

  async waitFor(isThere: (pids: readonly number[]) => boolean): Promise<void> {
    while (!isThere(this.pids())) await pause(LOOK_MS);
  }

  /** Sends a request, by default on a connection of its own: connections go to the workers in turn. */
  request(method: 'GET' | 'POST', path: string, body?: unknown, agent: Agent | false = false): Promise<WorkerAnswer> {
    return new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json' };
      const outgoing = request(`${this.process.url}${path}`, { method, agent, headers }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
        const parse = () =>
          resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) as WorkerAnswer['body'] });
        response.on('end', parse).on('error', reject);
      });
      outgoing.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  chat(query: string, agent: Agent | false = false): Promise<WorkerAnswer> {
    return this.request('POST', '/api/agent/chat', { query }, agent);
  }
}

/** Clients that chat again and again, each on a connection that it keeps. */
export class PaceOfChats {
  private readonly statuses: string[] = [];
  private readonly agent = new Agent({ keepAlive: true });
  private readonly clients: Promise<void>[];
  private hasStopped = false;

  private constructor(
    private readonly server: WorkerServer,
    clients: number,
  ) {
    this.clients = Array.from({ length: clients }, () => this.chatOn());
  }

  static start(server: WorkerServer, clients: number): PaceOfChats {
    return new PaceOfChats(server, clients);
  }

  get done(): number {
    return this.statuses.length;
  }

  async atLeast(count: number): Promise<void> {
    while (this.done < count) await pause(LOOK_MS);
  }

  /** @returns the status of each chat, with the code of a refusal or of a failed connection */
  async stop(): Promise<readonly string[]> {
    this.hasStopped = true;
    await Promise.all(this.clients);
    this.agent.destroy();
    return this.statuses;
  }

  private async chatOn(): Promise<void> {
    while (!this.hasStopped) {
      const { status, body } = await this.server
        .chat('hi', this.agent)
        .catch((error: unknown) => ({ status: String(error), body: {} as WorkerAnswer['body'] }));
      this.statuses.push([status, body['code'] ?? []].flat().join(' '));
    }
  }
}
