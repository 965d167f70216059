import { afterEach, beforeEach, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { EventEmitter, once } from 'node:events';
import { loadConfig } from '../src/config/index.js';
import type { NotificationChannel } from '../src/persistence/index.js';
import { openPersistence } from '../src/persistence/shared-persistence.registry.js';
import type { OpenPersistence } from '../src/persistence/persistence.types.js';
import { describeDatabases, testServers, type TestDatabase } from './support/test-databases.js';

Logger.overrideLogger(false);
const servers = await testServers();

interface Node extends OpenPersistence {
  readonly notifications: NotificationChannel;
}

async function openNode(database: TestDatabase): Promise<Node> {
  const { config } = loadConfig({ env: { DATABASE_URL: database.url } });
  return (await openPersistence(config.database, { entities: [], migrations: [] })) as Node;
}

/** Collects the payloads that a node receives, so that a test can wait for them. */
class Ear {
  readonly heard: string[] = [];
  private readonly emitter = new EventEmitter();

  readonly listener = (payload: string): void => {
    this.heard.push(payload);
    this.emitter.emit('heard');
  };

  async until(count: number): Promise<readonly string[]> {
    while (this.heard.length < count) await once(this.emitter, 'heard');
    return this.heard;
  }
}

describeDatabases(
  'the notification channel',
  servers.filter(({ kind }) => kind === 'postgres'),
  (created) => {
    let here: Node;
    let there: Node;
    beforeEach(async () => {
      [here, there] = await Promise.all([openNode(created()), openNode(created())]);
    });
    afterEach(async () => {
      await Promise.all([here.close(), there.close()]);
    });

    it('carries payloads to every process, including its own, in order', async () => {
      const ears = [new Ear(), new Ear()];
      await here.notifications.listen('runs', ears[0]!.listener);
      await there.notifications.listen('runs', ears[1]!.listener);
      const payloads = Array.from({ length: 300 }, (_, at) =>
        JSON.stringify({ at, text: '🐦'.repeat(at % 40), line: 'a\nb' }),
      );
      for (const [at, payload] of payloads.entries()) {
        here.notifications.notify('runs', payload);
        if (at % 50 === 49) await here.database.ping();
      }
      for (const ear of ears) expect(await ear.until(300)).toEqual(payloads);
    });

    it('carries the same payload as often as it is sent, up to 7,900 bytes', async () => {
      const ear = new Ear();
      await there.notifications.listen('runs', ear.listener);
      const payloads = ['x', 'x', 'é'.repeat(3_950), 'é'.repeat(3_950), '', 'x'];
      for (const payload of payloads) here.notifications.notify('runs', payload);
      expect(await ear.until(6)).toEqual(payloads);
    });

    it.each([
      ['a payload that is too long', 'runs', 'é'.repeat(3_951)],
      ['a payload of two lines', 'runs', 'a\nb'],
      ['a payload with a NUL', 'runs', 'a\0'],
    ])('refuses %s', (_what, channel, payload) => {
      expect(() => here.notifications.notify(channel, payload)).toThrow(expect.objectContaining({ code: 'INTERNAL' }));
    });

    it('refuses an invalid channel name', async () => {
      await expect(here.notifications.listen('a; DROP TABLE x', () => {})).rejects.toMatchObject({ code: 'INTERNAL' });
    });

    it('separates channels and listeners', async () => {
      const [one, other, gone] = [new Ear(), new Ear(), new Ear()];
      await there.notifications.listen('one', one.listener);
      const end = await there.notifications.listen('one', gone.listener);
      const endOther = await there.notifications.listen('other', gone.listener);
      await there.notifications.listen('third', other.listener);
      await Promise.all([end(), endOther()]);
      for (const channel of ['one', 'other', 'third']) here.notifications.notify(channel, channel);
      expect([await one.until(1), await other.until(1), gone.heard]).toEqual([['one'], ['third'], []]);
    });

    it('listens again after its connection was lost, and reports the gap', async () => {
      const ear = new Ear();
      for (let round = 1; round <= 2; round++) {
        const emitter = new EventEmitter();
        const end = await there.notifications.listen('runs', ear.listener, () => emitter.emit('again'));
        const again = once(emitter, 'again');
        await created().disconnect();
        await again;
        while (await there.database.ping().catch((error: unknown) => error));
        there.notifications.notify('runs', `round ${round}`);
        expect((await ear.until(round)).at(-1)).toBe(`round ${round}`);
        await end();
      }
    });

    it('sends waiting payloads before it closes', async () => {
      const ear = new Ear();
      await there.notifications.listen('runs', ear.listener);
      here.notifications.notify('runs', 'last');
      await here.notifications.close();
      expect(await ear.until(1)).toEqual(['last']);
    });
  },
);
