import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { clusterStores, describeClusters } from './support/cluster-stores.js';
import { IS_LONG_FORM } from './support/long-form.js';
import { newFolder } from './support/jackdaw.js';
import { buildIfStale, CODE_CACHE, program } from './support/process.js';
import { describeDatabases, testServers } from './support/test-databases.js';
import { PATIENCE_MS } from './support/patience.js';

/** PostgreSQL always runs as a cluster. */
const servers = (await testServers()).filter(({ kind }) => kind === 'mariadb');
const clusters = await clusterStores();
/** Delays between creation and close, in turns of the event loop; `npm run test:chaos` tries all of them on every database. */
const DELAYS = IS_LONG_FORM ? [0, 1, 3, 30, 300] : [0, 3, 300];
const DELAYS_OF_SERVERS = IS_LONG_FORM ? DELAYS : [0, 300];
/** `fill` leaves unfinished runs, which the scenarios after it recover. */
const MOMENTS = ['fill', 'start recover mute', 'fill', 'http created chat tool agent', 'two mcp'];

interface End {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function endOf(moment: string, env: object, delays: readonly number[]): Promise<End> {
  const args = [program('quick-close'), moment, JSON.stringify(env), JSON.stringify(delays)];
  const child = spawn(process.execPath, args, { env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: CODE_CACHE } });
  const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  clearTimeout(timer);
  return { code, stdout: stdout.trim().split('\n').at(-1) ?? '', stderr };
}

describe('an application that is closed soon after its creation', () => {
  const folder = newFolder();
  beforeAll(() => buildIfStale());
  afterAll(() => rmSync(folder, { recursive: true }));

  function itEndsQuietly(env: () => object, delays = DELAYS_OF_SERVERS): void {
    it.each(MOMENTS.map((moment, at) => [`${at + 1} ${moment}`, moment]))(
      'ends the process with code 0 and nothing in stderr: %s',
      async (_name, moment) => {
        const end = await endOf(moment, { DATA_DIR: folder, ...env() }, delays);
        expect(end).toEqual({ code: 0, stdout: 'closed', stderr: '' });
      },
    );
  }

  describe('on SQLite', () => {
    itEndsQuietly(() => ({}), DELAYS);
  });

  describeDatabases('on a server', servers, (created) => {
    itEndsQuietly(() => ({ DATABASE_URL: created().url }));
  });

  describeClusters('in a cluster', clusters, (store) => {
    let env: Record<string, string>;
    beforeAll(async () => {
      env = await store.open();
    });
    afterAll(() => store.close());
    itEndsQuietly(() => env);
  });
});
