import { describe, expect, it } from 'vitest';
import { spawn } from 'node:child_process';
import { Agent, get, request } from 'node:http';
import { createInterface } from 'node:readline';
import { CODE_CACHE, program, ServerProcess } from './support/process.js';
import { ProcessWorld } from './support/process-world.js';
import { gate } from './support/jackdaw.js';

const world = ProcessWorld.prepare();

/** The status of a request, and its header `Connection`. */
function statusOn(agent: Agent, url: string, query?: string): Promise<readonly unknown[]> {
  const headers = { 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, headers, method: query === undefined ? 'GET' : 'POST' }, (response) => {
      response.resume().once('end', () => resolve([response.statusCode, response.headers.connection]));
    });
    sent.once('error', reject).end(query === undefined ? undefined : JSON.stringify({ query }));
  });
}

/** The status of a request on a connection of its own. */
function statusOf(url: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).on('error', reject);
  });
}

function chat(url: string, query: string): Promise<Response> {
  const headers = { 'content-type': 'application/json', connection: 'close' };
  return fetch(`${url}/api/agent/chat`, { method: 'POST', headers, body: JSON.stringify({ query }) });
}

/** Starts two workers of node:cluster. */
function startWorkers() {
  const { PATH = '', HOME = '' } = process.env;
  const env = {
    PATH,
    HOME,
    NODE_COMPILE_CACHE: CODE_CACHE,
    LOG_LEVEL: 'silent',
    PORT: '0',
    ...world.env({ SHUTDOWN_GRACE_MS: '8000' }),
  };
  const primary = spawn(process.execPath, [program('port-workers')], {
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: primary.stdout })[Symbol.asyncIterator]();
  return { primary, nextLine: async () => String((await lines.next()).value) };
}

describe('two workers that share a port', () => {
  it('answer all new connections while one of them finishes its work', async () => {
    const { primary, nextLine } = startWorkers();
    try {
      const url = (await nextLine()).replace('ready ', '');
      const reply = gate();
      world.llm.reply({ gate: reply.opened, text: 'one' }, { gate: reply.opened, text: 'two' });
      // Connections go to the workers in turn.
      const running = [chat(url, 'a'), chat(url, 'b')];
      await world.llm.waitForRequest(1);
      await world.llm.waitForRequest(2);

      primary.stdin.write('stop\n');
      expect(await nextLine()).toBe('stopping');
      const statuses = [];
      for (let n = 0; n < 20; n++) statuses.push(await statusOf(`${url}/api/health/ready`));
      expect(new Set(statuses)).toEqual(new Set([200]));

      reply.open();
      expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200]);
      expect(await nextLine()).toBe('ended 0');
    } finally {
      primary.kill('SIGKILL');
    }
  });

  it('start the runs of their connections, also the worker that stops', async () => {
    const { primary, nextLine } = startWorkers();
    // Connections go to the workers in turn.
    const agents = [0, 1].map(() => new Agent({ keepAlive: true, maxSockets: 1 }));
    try {
      const url = (await nextLine()).replace('ready ', '');
      world.llm.always({ text: 'hello' });
      for (const agent of agents) expect(await statusOn(agent, `${url}/api/health/live`)).toEqual([200, 'keep-alive']);
      primary.stdin.write('stop\n');
      expect(await nextLine()).toBe('stopping');
      const answers = [];
      for (const agent of agents) answers.push(await statusOn(agent, `${url}/api/agent/chat`, 'hi'));
      expect(answers.map(String).toSorted()).toEqual(['200,close', '200,keep-alive']);
      expect(await nextLine()).toBe('ended 0');
    } finally {
      for (const agent of agents) agent.destroy();
      primary.kill('SIGKILL');
    }
  });
});

describe('a second server on a SQLite file', () => {
  it('ends with one line that names DATABASE_URL, and with an exit code for supervisors', async () => {
    await world.start();
    const second = ServerProcess.start('dist/main.js', world.env({ PORT: '0', SHUTDOWN_TIMEOUT_MS: '0' }));
    expect(await second.ended).toEqual({ code: 78, signal: null });
    expect(second.stderr).toMatch(/^The database .* set DATABASE_URL to .*\n$/);
  });
});
