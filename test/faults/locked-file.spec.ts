import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { join } from 'node:path';
import { FileLocker } from '../support/file-locker.js';
import { itLosesNothing, itSurvives, OutageWorld } from './outage-world.js';

describe('an outage of a locked SQLite file', () => {
  const world = OutageWorld.prepare(() => ({ DATABASE_TIMEOUT_MS: '1000' }));
  let locker: FileLocker;
  beforeAll(() => {
    locker = new FileLocker(join(world.jackdaw.dataDir, 'jackdaw.db'));
  });
  afterAll(() => locker.close());

  const outage = () => ({ begin: () => locker.lock(), end: () => locker.unlock() });
  itSurvives(world, outage);
  itLosesNothing(world, outage);

  it('does not block the event loop', async () => {
    await locker.lock();
    let turns = 0;
    const timer = setInterval(() => turns++, 10);
    await world.jackdaw.post('/api/sessions', {});
    clearInterval(timer);
    await locker.unlock();
    // SQLite's own wait would have stopped the timer for most of the second.
    expect(turns).toBeGreaterThan(20);
  });
});
