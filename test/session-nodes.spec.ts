import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Redis } from 'ioredis';
import { TurnArchive } from '../src/session/projection/turn-archive.js';
import { FakeLlm } from './support/fake-llm.js';
import { gate, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { testRedisUrl, testServers, type TestDatabase } from './support/test-databases.js';

const redisUrl = await testRedisUrl();
const postgres = (await testServers()).find(({ kind }) => kind === 'postgres')!;
const isLeftOut = !(redisUrl && postgres.answers) && !process.env['CI'];

/** Freezes a node just before it writes to its archive: it has read the waiting changes, and resumes at `thaw`. */
function freeze({ app }: Jackdaw): { isFrozen: Promise<void>; thaw: () => void; isThrough: Promise<void> } {
  const [reached, go, through] = [gate(), gate(), gate()];
  const archive = app.get(TurnArchive, { strict: false });
  const apply = archive.apply.bind(archive);
  archive.apply = async (...given) => {
    archive.apply = apply;
    reached.open();
    await go.opened;
    return apply(...given).finally(through.open);
  };
  return { isFrozen: reached.opened, thaw: go.open, isThrough: through.opened };
}

(isLeftOut ? describe.skip : describe)('sessions in Redis that two nodes share', () => {
  let llm: FakeLlm;
  let database: TestDatabase;
  let redis: Redis;
  let a: Jackdaw;
  let b: Jackdaw;
  const session = `nodes-${process.pid}-${Date.now()}`;
  beforeAll(async () => {
    llm = await FakeLlm.start();
    llm.always(({ messages }) => ({ text: `answer ${messages.length}` }));
    database = await postgres.create();
    redis = new Redis(redisUrl!);
    const env = { DATABASE_URL: database.url, SESSION_STORE: redisUrl! };
    [a, b] = [await startJackdaw({ llm, env }), await startJackdaw({ llm, env })];
  });
  afterAll(async () => {
    const keys = await redis.keys(`jackdaw:session:*${session}*`);
    if (keys.length > 0) await redis.unlink(...keys);
    redis.disconnect();
    await Promise.all([a.stop(), b.stop()]);
    await llm.close();
    await database.drop();
  });

  const texts = async (id: string) => (await redis.hvals(`jackdaw:session:{default:${id}}:turns`)).join('\n');
  const said = async (id: string) => (await b.messages(id)).map(({ content }) => content);

  it.each([
    ['cleared', (id: string) => `/api/sessions/${id}/messages`],
    ['deleted', (id: string) => `/api/sessions/${id}`],
  ])('stay %s, and new turns stay complete, when a frozen node resumes', async (what, path) => {
    const id = `${session}-${what}`;
    const { isFrozen, thaw, isThrough } = freeze(a);
    await a.chat({ query: 'a secret', sessionId: id });
    const reading = a.messages(id);
    await isFrozen;
    expect(await said(id)).toEqual(['a secret', 'answer 2']);
    expect((await b.send(path(id), { method: 'DELETE' })).status).toBe(204);
    await b.chat({ query: 'anew', sessionId: id });
    expect(await said(id)).toEqual(['anew', 'answer 2']);
    thaw();
    await Promise.all([isThrough, reading]);
    expect(await texts(id)).not.toContain('secret');
    expect(await said(id)).toEqual(['anew', 'answer 2']);
  });
});
