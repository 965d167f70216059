import { describe, expect, it } from 'vitest';
import { useDatabase } from './database-use.registry.js';

const LONG_MS = 60_000;
let count = 0;
const newKey = () => `database ${++count}`;

/** Whether the promise is settled after all work that is ready. */
async function isSettled(work: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void work.then(() => (settled = true));
  await new Promise((resolve) => setImmediate(resolve));
  return settled;
}

describe('an application that starts to use a database', () => {
  it('waits for the end of the only other one, which stops', async () => {
    const key = newKey();
    const former = await useDatabase(key, key);
    former.stop(LONG_MS);
    const next = useDatabase(key, key);
    expect(await isSettled(next)).toBe(false);
    former.end();
    (await next).end();
  });

  it('waits no longer than the limit of the other one', async () => {
    const key = newKey();
    const former = await useDatabase(key, key);
    former.stop(10);
    const next = await useDatabase(key, key);
    // The late end of the former one has no effect on the next one.
    former.end();
    next.stop(LONG_MS);
    const last = useDatabase(key, key);
    expect(await isSettled(last)).toBe(false);
    next.end();
    (await last).end();
  });

  it('does not wait while another one stays, and not for one that ended without a stop', async () => {
    const key = newKey();
    const [stopping, staying] = await Promise.all([useDatabase(key, key), useDatabase(key, key)]);
    stopping.stop(LONG_MS);
    const next = useDatabase(key, key);
    expect(await isSettled(next)).toBe(true);
    for (const use of [stopping, staying, await next]) use.end();
    expect(await isSettled(useDatabase(key, key))).toBe(true);
  });

  it('does not wait for the applications of another database', async () => {
    const former = await useDatabase('one', 'one');
    former.stop(LONG_MS);
    expect(await isSettled(useDatabase('other', 'other'))).toBe(true);
    former.end();
  });
});
