import { expect, it } from 'vitest';
import { runCli } from './support/cli.js';
import { interrupt } from './support/interrupted-runs.js';
import { ProcessWorld } from './support/process-world.js';

const world = ProcessWorld.prepare();

it('jackdaw runs release lets one run continue that waits because the database was restored', async () => {
  const runs = await interrupt(world);
  const server = await world.start({ RECOVERY: 'pause' });
  const cli = (args: string) => runCli(args.split(' '), { cwd: world.folder, env: { JACKDAW_URL: server.url } });
  const waiting = async () => (await cli('runs list --status waiting')).out;
  for (const id of Object.values(runs)) expect(await waiting()).toContain(id);
  expect((await cli(`runs show ${runs.alone}`)).err).toContain('jackdaw runs release');
  const released = await cli(`runs release ${runs.alone} --json`);
  expect([released.code, JSON.parse(released.out)]).toMatchObject([0, { run_id: runs.alone, status: 'completed' }]);
  expect(await waiting()).not.toContain(runs.alone);
  expect(await waiting()).toContain(runs.running);
  const again = await cli(`runs release ${runs.alone} --json`);
  expect([again.code, JSON.parse(again.err)]).toMatchObject([1, { status: 409 }]);
  expect((await cli(`runs release ${runs.running} --detach`)).code).toBe(0);
  expect((await cli(`runs follow ${runs.running}`)).code).toBe(0);
  expect(await waiting()).not.toContain(runs.running);
});
