import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FolderWatch } from './folder-watch.policy.js';

const all = mkdtempSync(join(tmpdir(), 'jackdaw-watch-'));
const NEVER_MS = 1_000_000;

/** Counts calls and lets a test wait for the next one. */
class Looks {
  count = 0;
  private waiting: (() => void)[] = [];

  readonly look = async (): Promise<void> => {
    this.count++;
    for (const go of this.waiting.splice(0)) go();
    await Promise.resolve();
  };

  next(): Promise<void> {
    return new Promise((resolve) => void this.waiting.push(resolve));
  }
}

/** Number of active system watches on the folder. */
function watchers(): number {
  const { libuv } = process.report.getReport() as { libuv: { type: string; is_active: boolean; filename?: string }[] };
  return libuv.filter(({ type, is_active, filename }) => type === 'fs_event' && is_active && filename === all).length;
}

describe('FolderWatch', () => {
  let watch: FolderWatch;
  afterEach(() => watch.stop());
  afterAll(() => rmSync(all, { recursive: true }));

  it('scans after a change in a folder, also after the folder was replaced', async () => {
    const looks = new Looks();
    const folder = join(all, 'a');
    mkdirSync(folder);
    watch = new FolderWatch(looks.look, NEVER_MS);
    const first = looks.next();
    watch.start();
    await first;
    expect(await watch.follow([folder])).toBe(true);
    expect(await watch.follow([folder, join(all, 'gone')])).toBe(false);
    const second = looks.next();
    writeFileSync(join(folder, 'x'), '1');
    await second;

    rmSync(folder, { recursive: true });
    mkdirSync(folder);
    expect(await watch.follow([folder])).toBe(true);
    const third = looks.next();
    writeFileSync(join(folder, 'x'), '1');
    await third;
  });

  it('scans periodically without change events', async () => {
    const looks = new Looks();
    watch = new FolderWatch(looks.look, 5);
    watch.start();
    for (let times = 0; times < 3; times++) await looks.next();
    expect(looks.count).toBe(3);
  });

  it('releases its watchers and timers on stop', async () => {
    const looks = new Looks();
    watch = new FolderWatch(looks.look, NEVER_MS);
    watch.start();
    await watch.follow([all]);
    expect(watchers()).toBe(1);
    watch.stop();
    expect(watchers()).toBe(0);
    expect(await watch.follow([all])).toBe(false);
    expect([watchers(), looks.count]).toEqual([0, 0]);
  });
});
