import { afterAll, beforeAll, expect, it } from 'vitest';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clusterStores, describeEachCluster } from './support/cluster-stores.js';
import type { FakeReply, FakeRequest } from './support/fake-llm.types.js';
import { expectCompleted } from './support/interrupted-runs.js';
import { ProcessWorld } from './support/process-world.js';
import { ServerProcess } from './support/process.js';

/** The older code: a tag, or any commit. Without it, vitest.config.mjs excludes this file. */
const OLDER = process.env['UPGRADE_FROM']!;
const LEASE = { CLUSTER_LEASE_MS: '1500', CLUSTER_CHECK_MS: '300' };
const BUILD_TIMEOUT_MS = 600_000;

const world = ProcessWorld.prepare();
const stores = await clusterStores();
let older: string;

/** A built checkout of the older code. */
function checkOut(commit: string): string {
  const folder = join(mkdtempSync(join(tmpdir(), 'jackdaw-older-')), 'code');
  execFileSync('git', ['worktree', 'add', '--detach', folder, commit], { stdio: 'ignore' });
  const lock = (root: string) => readFileSync(join(root, 'package-lock.json'), 'utf8');
  if (lock(folder) === lock('.')) symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'));
  else execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'ignore' });
  execFileSync(process.execPath, ['scripts/build.mjs'], { cwd: folder, stdio: 'ignore' });
  return folder;
}

/** Calls the tool that the last question names, once for each step. */
function model({ messages }: FakeRequest): FakeReply {
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  const [, name = '', steps = '0'] = /(\w+_step) (\d+)/.exec(String(messages[asked]?.content)) ?? [];
  const done = messages.slice(asked).filter(({ role }) => role === 'tool').length;
  return done < Number(steps) ? { calls: [{ name, arguments: { step: done + 1 } }] } : { text: 'all done' };
}

async function startOlder(more: Readonly<Record<string, string>> = {}): Promise<ServerProcess> {
  const script = join(older, 'test/support/crash-app.mjs');
  const server = ServerProcess.start(script, world.env({ ...LEASE, ...more }), [], older);
  await server.waitForLine('ready ');
  return server;
}

beforeAll(() => {
  older = checkOut(OLDER);
}, BUILD_TIMEOUT_MS);
afterAll(() => {
  execFileSync('git', ['worktree', 'remove', '--force', older]);
  rmSync(join(older, '..'), { recursive: true });
});

describeEachCluster(`processes of ${OLDER} and of the present code`, stores, (store) => {
  world.share(store);

  it('serve a session in turns, and the present code completes a run of the older one, which is killed', async () => {
    world.llm.always(model);
    const before = await startOlder({ BLOCK_AT: 'idempotent_step 2' });
    const { body } = await before.chat({ query: 'Hello', sessionId: 'shared' });
    expect(body).toMatchObject({ result: 'all done' });
    const after = await world.start(LEASE);
    for (const server of [before, after, before, after])
      expect(await server.chat({ query: 'read_step 1', sessionId: 'shared' })).toMatchObject({
        body: { result: 'all done' },
      });
    const { body: page } = await after.get('/api/sessions/shared/messages');
    const messages = page['messages'] as unknown as readonly { role: string }[];
    expect(messages.filter(({ role }) => role === 'user')).toHaveLength(5);
    const { runId } = await before.stream({ query: 'idempotent_step 3', sessionId: 'other' });
    await before.waitForLine('performing idempotent_step 2');
    await before.kill();
    await expectCompleted(after, runId);
  });

  it('a rolled back process continues the sessions and runs that the present code has written', async () => {
    world.llm.always(model);
    const before = await startOlder();
    await before.chat({ query: 'Hello', sessionId: 'shared' });
    await before.kill('SIGTERM');
    const after = await world.start({ ...LEASE, BLOCK_AT: 'idempotent_step 2' });
    await after.chat({ query: 'read_step 1', sessionId: 'shared' });
    const { runId } = await after.stream({ query: 'idempotent_step 3', sessionId: 'other' });
    await after.waitForLine('performing idempotent_step 2');
    await after.kill();
    const again = await startOlder();
    await expectCompleted(again, runId);
    expect(await again.chat({ query: 'read_step 1', sessionId: 'shared' })).toMatchObject({
      body: { result: 'all done' },
    });
  });
});
