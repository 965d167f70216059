import { describe, expect, it } from 'vitest';
import { spawn } from 'node:child_process';
import { get } from 'node:http';
import { createInterface } from 'node:readline';
import { CODE_CACHE, ServerProcess } from './support/process.js';
import { ProcessWorld } from './support/process-world.js';
import { gate } from './support/jackdaw.js';

const world = ProcessWorld.prepare();

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

describe('two workers that share a port', () => {
  it('answer all new connections while one of them finishes its work', async () => {
    const { PATH = '', HOME = '' } = process.env;
    const env = {
      PATH,
      HOME,
      NODE_COMPILE_CACHE: CODE_CACHE,
      LOG_LEVEL: 'silent',
      PORT: '0',
      ...world.env({ SHUTDOWN_GRACE_MS: '8000' }),
    };
    const primary = spawn(process.execPath, ['test/support/port-workers.mjs'], {
      env,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const lines = createInterface({ input: primary.stdout })[Symbol.asyncIterator]();
    const nextLine = async () => String((await lines.next()).value);
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
});

describe('a second server on a SQLite file', () => {
  it('ends with one line that names DATABASE_URL, and with an exit code for supervisors', async () => {
    await world.start();
    const second = ServerProcess.start('dist/main.js', world.env({ PORT: '0', SHUTDOWN_TIMEOUT_MS: '0' }));
    expect(await second.ended).toEqual({ code: 78, signal: null });
    expect(second.stderr).toMatch(/^The database .* set DATABASE_URL to .*\n$/);
  });
});
