import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentBuilder, createAgent, type MemoryPersistence } from '../src/index.js';
import { AgentHost } from './support/agent-host.js';
import { says } from './support/scripted-chat-model.js';
import { testRedisUrl } from './support/test-databases.js';

const folder = mkdtempSync(join(tmpdir(), 'jackdaw-memory-'));
const redis = await testRedisUrl();
let host = new AgentHost();
afterEach(async () => {
  await host.stop();
  host = new AgentHost();
});
afterAll(() => rmSync(folder, { recursive: true }));

const other = `sqlite:${join(folder, 'other.db')}`;
const DRIVERS: readonly [string, MemoryPersistence, boolean][] = [
  ['files', { enabled: true, driver: 'file' }, true],
  ['its database', { enabled: true, driver: 'database' }, true],
  ['another database', { enabled: true, driver: 'database', config: { url: other } }, true],
  ['Redis', { enabled: true, driver: 'redis', config: { url: redis! } }, true],
  ['this process', { enabled: false }, false],
];

for (const [place, persistence, outlives] of DRIVERS) {
  const isLeftOut = place === 'Redis' && redis === null && !process.env['CI'];
  (isLeftOut ? describe.skip : describe)(`the conversations of an agent in ${place}`, () => {
    it(`${outlives ? 'continue' : 'do not continue'} after a restart`, async () => {
      const env = host.environment();
      const sessionId = `s-${Date.now()}`;
      const start = () => host.start({ config: env, memory: { maxMessages: 10, persistence } }, [says('Hello, Kira.')]);
      const first = await start();
      await first.chat('I am Kira.', { sessionId });
      expect(first.getConfig().memory).toMatchObject({ maxMessages: 10 });
      expect(await first.session(sessionId).turns()).toHaveLength(1);
      await first.close();
      const second = await start();
      expect(await second.session(sessionId).turns()).toHaveLength(outlives ? 1 : 0);
      const files = readdirSync(env.DATA_DIR, { recursive: true }).filter((name) => String(name).endsWith('.jsonl'));
      expect(files).toHaveLength(place === 'files' ? 1 : 0);
    });
  });
}

describe('memory.persistence', () => {
  it('is an option of the builder, too', async () => {
    const builder = new AgentBuilder({ config: host.environment() });
    const memory = { persistence: { enabled: true, driver: 'database' as const, config: { url: other } } };
    const agent = await builder.withMemory(memory).build();
    await agent.close();
    expect(existsSync(join(folder, 'other.db'))).toBe(true);
  });

  it.each<[object, string]>([
    [{ enabled: true }, '.driver is undefined: use "file", "database" or "redis"'],
    [{ enabled: true, driver: 'disk' }, '.driver is "disk"'],
    [{ driver: 'file' }, '.enabled is missing'],
    [{ enabled: false, driver: 'file' }, ' is not enabled: omit its driver'],
    [{ enabled: true, driver: 'file', config: { path: 'x' } }, ' has an unknown path'],
    [{ enabled: true, driver: 'file', config: { url: 'x' } }, '.config.url has no effect with the driver "file"'],
    [{ enabled: true, driver: 'redis', config: { url: other } }, '.config.url is no redis:// URL'],
    [{ enabled: true, driver: 'database', config: { url: 'redis://x' } }, '.config.url is no database URL'],
    [{ enabled: true, driver: 'database', config: { url: 'memory' } }, '.config.url is no database URL'],
  ])('is refused: %j', async (persistence, problem) => {
    const created = createAgent({
      config: host.environment(),
      memory: { persistence: persistence as MemoryPersistence },
    });
    await expect(created).rejects.toMatchObject({
      code: 'AGENT_INVALID',
      message: expect.stringContaining(`createAgent: memory.persistence${problem}`),
    });
  });

  it('is refused beside SESSION_STORE', async () => {
    const env = { ...host.environment(), SESSION_STORE: 'file' };
    const created = createAgent({ config: env, memory: { persistence: { enabled: true, driver: 'file' } } });
    await expect(created).rejects.toThrow('memory.persistence and config.SESSION_STORE are the same option');
  });
});
