import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setInterval } from 'node:timers/promises';
import { PATIENCE } from '../support/cluster-stores.js';
import { freePort } from '../support/free-port.js';
import type { PackedConsumer } from '../support/packed-consumer.js';
import { testServers } from '../support/test-databases.js';
import { createHostProject } from './host-project.js';
import { errorsOf, isAlive, type ManagedProcess, Pm2 } from './pm2.js';

/** Interval between two requests of a client, in ms: two clients send 20 a second. */
const PACE_MS = 100;
/** Requests of a client in flight at most: the machine may be busy. */
const MOST_PENDING = 10;

const postgres = (await testServers()).find(({ kind }) => kind === 'postgres')!;
let project: PackedConsumer;
beforeAll(async () => {
  project = await createHostProject();
});
afterAll(() => project.remove());

let pm2: Pm2 | undefined;
afterEach(endPm2);

async function endPm2(): Promise<void> {
  await pm2?.end();
  pm2 = undefined;
}

interface Answer {
  /** The status of the answer and its error code, or the error of the connection. */
  readonly outcome: string;
  readonly body: { readonly run_id?: string; readonly status?: string; readonly code?: string };
}

/** @param query starts a request with a body */
function send(url: string, agent: Agent, query?: string): Promise<Answer> {
  return new Promise((finish) => {
    const method = query === undefined ? 'GET' : 'POST';
    const fail = (error: Error & { code?: string }) => {
      const connection = sent.reusedSocket ? 'a reused' : 'a new';
      finish({ outcome: `${error.code} on ${connection} connection`, body: {} });
    };
    const sent = request(url, { agent, method, headers: { 'content-type': 'application/json' } }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.once('error', fail).once('end', () => {
        const body = JSON.parse(text) as Answer['body'];
        finish({ outcome: [response.statusCode, body.code].filter(Boolean).join(' '), body });
      });
    });
    sent.once('error', fail).end(query === undefined ? undefined : JSON.stringify({ query }));
  });
}

/** Starts background runs at a steady pace, until it is stopped. */
class Client {
  private readonly answers: Promise<Answer>[] = [];
  private pending = 0;
  private readonly stopped = new AbortController();
  private readonly ended: Promise<void>;

  constructor(
    private readonly url: string,
    private readonly agent: Agent,
  ) {
    this.ended = this.run();
  }

  async stop(): Promise<readonly Answer[]> {
    this.stopped.abort();
    await this.ended;
    const answers = await Promise.all(this.answers);
    this.agent.destroy();
    return answers;
  }

  private async run(): Promise<void> {
    for await (const _ of setInterval(PACE_MS)) {
      if (this.stopped.signal.aborted) return;
      if (this.pending >= MOST_PENDING) continue;
      this.pending++;
      const answer = send(`${this.url}/api/agent/runs`, this.agent, `question ${this.answers.length}`);
      this.answers.push(answer.finally(() => this.pending--));
    }
  }
}

async function startPm2(env: Readonly<Record<string, string>>): Promise<{ daemon: Pm2; url: string }> {
  const port = await freePort();
  pm2 = new Pm2(project.folder, { PORT: String(port), ...PATIENCE, ...env });
  await pm2.call('start', 'ecosystem.config.cjs');
  return { daemon: pm2, url: `http://127.0.0.1:${port}` };
}

async function untilReady(url: string): Promise<void> {
  for await (const _ of setInterval(PACE_MS))
    if ((await send(`${url}/api/health/ready`, new Agent())).outcome === '200') return;
}

const pidsOf = (processes: readonly ManagedProcess[]) => processes.map(({ pid }) => pid);

const isLeftOut = !postgres.answers && !process.env['CI'];
(isLeftOut ? describe.skip : describe)('pm2 with the documented settings on PostgreSQL', () => {
  it('replaces two workers under load without a failed request, and leaves no process', async () => {
    const database = await postgres.create();
    try {
      const { daemon, url } = await startPm2({ DATABASE_URL: database.url, DATA_DIR: join(project.folder, 'shared') });
      const agent = new Agent();
      await untilReady(url);
      const started = await daemon.list();
      expect(started.map(({ pm2_env }) => pm2_env.status)).toEqual(['online', 'online']);

      const clients = [new Client(url, agent), new Client(url, new Agent({ keepAlive: true }))];
      for (let reloads = 0; reloads < 2; reloads++) await daemon.call('reload', 'ecosystem.config.cjs');
      const answers = (await Promise.all(clients.map((client) => client.stop()))).flat();
      // A request fails with its outcome in the message.
      expect(new Set(answers.map(({ outcome }) => outcome))).toEqual(new Set(['202']));
      const replaced = await daemon.list();
      expect(replaced.map(({ pm2_env }) => [pm2_env.status, pm2_env.restart_time])).toEqual([
        ['online', 2],
        ['online', 2],
      ]);
      expect(pidsOf(started).filter(isAlive)).toEqual([]);
      for (const { body } of answers) {
        const runUrl = `${url}/api/runs/${body.run_id}`;
        let status;
        do ({ status } = (await send(runUrl, agent)).body);
        while (status === 'queued' || status === 'running');
        expect(status).toBe('completed');
      }
      process.stdout.write(`pm2 reload: ${answers.length} requests with the answer 202\n`);

      await daemon.call('stop', 'all');
      await daemon.call('delete', 'all');
      expect(pidsOf(replaced).filter(isAlive)).toEqual([]);
      expect(replaced.map(errorsOf)).toEqual(['', '']);
    } finally {
      await endPm2();
      await database.drop();
    }
  });
});

describe('pm2 with the documented settings on SQLite', () => {
  it('starts the second worker once, and stores its reason', async () => {
    const { daemon, url } = await startPm2({ DATA_DIR: join(project.folder, 'single'), SHUTDOWN_TIMEOUT_MS: '0' });
    const processes = await daemon.until((all) => all.some(({ pm2_env }) => pm2_env.status === 'stopped'));
    const [refused, serving] = processes.toSorted((a, b) => b.pm2_env.status.localeCompare(a.pm2_env.status));
    expect(refused!.pm2_env).toMatchObject({ status: 'stopped', restart_time: 0, exit_code: 78 });
    expect(errorsOf(refused!)).toMatch(/^The database .* set DATABASE_URL to .*\n$/);
    expect(serving!.pm2_env).toMatchObject({ status: 'online', restart_time: 0 });
    expect((await send(`${url}/api/agent/runs`, new Agent(), 'hello')).outcome).toBe('202');
  });
});
