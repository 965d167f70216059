import { describe, expect, it } from 'vitest';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expectCompleted, interrupt, PAUSED, statusesOf } from './support/interrupted-runs.js';
import { ProcessWorld } from './support/process-world.js';
import { approvedStep } from './support/step-script.js';
import { loadSqliteDriver } from '../src/persistence/sqlite-handle.js';
import { inShortForm } from './support/long-form.js';

const world = ProcessWorld.prepare();

const fileIn = (folder: string) => join(folder, 'jackdaw.db');

/** Copies of the database file, by the names of their makers. */
const COPIES: Readonly<Record<string, (to: string) => Promise<void> | void>> = {
  '.backup': async (to) => {
    const database = new (loadSqliteDriver())(fileIn(world.folder), { timeout: 1000 });
    // The operation of the shell's command `.backup`.
    await (database as unknown as { backup(file: string): Promise<unknown> }).backup(fileIn(to));
    database.close();
  },
  'VACUUM INTO': (to) => {
    const database = new (loadSqliteDriver())(fileIn(world.folder), { timeout: 1000 });
    database.exec(`VACUUM INTO '${fileIn(to)}'`);
    database.close();
  },
  'cp of the database and its log': (to) => {
    execFileSync('sh', ['-c', `cp ${fileIn(world.folder)}* '${to}/'`]);
  },
  'cp of the files of the folder': (to) => {
    execFileSync('sh', ['-c', `cp ${world.folder}/*.db* '${to}/'`]);
  },
};

describe('a copy of a SQLite database', () => {
  it('waits for a person, whatever has made it, and also after another start', async () => {
    const runs = await interrupt(world);
    const copies = Object.entries(COPIES).map(([name, make]) => ({ folder: join(world.folder, `by ${name}`), make }));
    for (const { folder, make } of copies) {
      mkdirSync(folder);
      await make(folder);
    }
    const before = world.effects();
    for (const { folder } of [...copies, copies[0]!]) {
      const server = await world.start({ DATA_DIR: folder });
      expect([folder, await statusesOf(server, runs)]).toEqual([folder, PAUSED]);
      await server.kill('SIGTERM');
    }
    expect(world.effects()).toEqual(before);
    // The original resumes by itself.
    const original = await world.start();
    await expectCompleted(original, ...Object.values(runs));
  });

  it('resumes one run, then all, when a person releases them', async () => {
    const runs = await interrupt(world);
    const copy = join(world.folder, 'copy');
    mkdirSync(copy);
    await COPIES['.backup']!(copy);
    const server = await world.start({ DATA_DIR: copy });
    const events = await server.events(runs.queued);
    expect(events.map(({ event }) => event)).toEqual(['run.started', 'run.waiting']);
    expect(events[1]!.data).toMatchObject({ reason: 'restored' });
    const released = await server.post(`/api/runs/${runs.alone}/release`);
    expect(released).toMatchObject({ status: 202, body: { run_id: runs.alone } });
    await expectCompleted(server, runs.alone);
    expect(await server.post(`/api/runs/${runs.alone}/release`)).toMatchObject({ status: 409 });
    expect(await server.post(`/api/runs/${runs.running}/approve`, {})).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('but for release after a restore of the database') },
    });
    expect(await server.post('/api/runs/release')).toMatchObject({
      status: 202,
      body: { run_ids: [runs.running, runs.queued] },
    });
    await expectCompleted(server, runs.running, runs.queued);
    expect(await server.post('/api/runs/release')).toMatchObject({ status: 202, body: { run_ids: [] } });
  });

  it('sends nothing to webhooks and starts no scheduled run before a person enables them', async () => {
    const original = await world.start();
    await original.post('/api/webhooks', { url: 'https://hooks.example/x' });
    await original.post('/api/schedules', { query: 'x', cron: '@daily' });
    await original.kill();
    const copy = join(world.folder, 'copy');
    mkdirSync(copy);
    await COPIES['.backup']!(copy);
    const server = await world.start({ DATA_DIR: copy });
    const disabled = [{ enabled: false, disabled_reason: 'restored' }];
    expect((await server.get('/api/webhooks')).body).toMatchObject({ webhooks: disabled });
    expect((await server.get('/api/schedules')).body).toMatchObject({ schedules: disabled });
  });

  it('holds a run that waits for an approval with an expiry, which asks again after its release', async () => {
    world.llm.always(approvedStep);
    const server = await world.start();
    const { body } = await server.chat({ query: 'do a step', sessionId: 's' });
    const id = String(body['run_id']);
    await server.kill();
    const copy = join(world.folder, 'copy');
    mkdirSync(copy);
    await COPIES['.backup']!(copy);
    const restored = await world.start({ DATA_DIR: copy });
    const kinds = async () => (await restored.events(id)).at(-1)!.data['reason'];
    expect(await kinds()).toBe('restored');
    await restored.post(`/api/runs/${id}/release`);
    expect(await kinds()).toBe('approval');
    await restored.post(`/api/runs/${id}/approve`, {});
    await expectCompleted(restored, id);
    expect(world.effects()).toEqual(['approved_step 1']);
  });

  it('resumes at the start with RECOVERY=resume', async () => {
    const runs = await interrupt(world);
    const copy = join(world.folder, 'copy');
    mkdirSync(copy);
    await COPIES['.backup']!(copy);
    const server = await world.start({ DATA_DIR: copy, RECOVERY: 'resume' });
    await expectCompleted(server, ...Object.values(runs));
  });
});

describe('a SQLite database at its place', () => {
  it.each<[string, () => string]>(
    inShortForm(2, [
      [
        'a move of its folder to another disk, which changes the inode',
        () => {
          const moved = `${world.folder}-moved`;
          cpSync(world.folder, moved, { recursive: true });
          rmSync(fileIn(world.folder));
          return moved;
        },
      ],
      [
        'a rename of its file, without the file that identifies it',
        () => {
          const moved = join(world.folder, 'moved');
          mkdirSync(moved);
          for (const end of ['', '-wal', '-shm']) renameSync(`${fileIn(world.folder)}${end}`, `${fileIn(moved)}${end}`);
          return moved;
        },
      ],
      ['a kill and a start', () => world.folder],
    ]),
  )('resumes by itself after %s', async (_what, change) => {
    const runs = await interrupt(world);
    const folder = change();
    const server = await world.start({ DATA_DIR: folder });
    await expectCompleted(server, ...Object.values(runs));
    await server.kill('SIGTERM');
    if (folder.endsWith('-moved')) rmSync(folder, { recursive: true });
  });

  it('waits for a person with RECOVERY=pause', async () => {
    const runs = await interrupt(world);
    const before = readFileSync(join(world.folder, 'effects'), 'utf8');
    const server = await world.start({ RECOVERY: 'pause' });
    expect(await statusesOf(server, runs)).toEqual(PAUSED);
    expect(readFileSync(join(world.folder, 'effects'), 'utf8')).toBe(before);
  });
});
