import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { randomBytes } from 'node:crypto';
import { DAY_MS } from '../src/kernel/index.js';
import { RunRetentionService } from '../src/run/retention/run-retention.service.js';
import { ToolRegistry } from '../src/tool/index.js';
import { keyHolder } from './support/api-keys.js';
import { call } from './support/forks.js';
import { PNG } from './support/mcp/media.mjs';
import { describeWorlds, newKey } from './support/private-world.js';
import { testServers } from './support/test-databases.js';

const ANN = keyHolder('ann', 'a', 'admin');
const MB = 1024 * 1024;
const MARK = randomBytes(300);
const LARGE = Buffer.concat([Buffer.from('%PDF-1.7\n'), MARK, Buffer.alloc(5 * MB - 309, 0xff)]);
const REFERENCE = '[file 1: application/pdf, 5,242,880 bytes]';

describeWorlds('files of runs', await testServers(), (current) => {
  describe.each([
    ['plain', ''],
    ['encrypted', newKey('k1')],
  ])('%s', (_how, keys) => {
    let called = 0;
    beforeEach(() => void (called = 0));
    beforeAll(async () => {
      const { app } = await current().start(keys, {
        API_KEYS: ANN.entry,
        LLM_MODEL: 'gpt-4o',
        LLM_CAPABILITIES: 'vision',
      });
      const tool = { description: 'Gives bytes.', effect: 'read' as const };
      const large = (at: number) => Buffer.concat([LARGE.subarray(0, -1), Buffer.from([at])]);
      const give = ({ at }: { at: number }) => {
        called++;
        return at === 0 ? LARGE : large(at);
      };
      const registry = app.get(ToolRegistry, { strict: false });
      registry.register({
        ...tool,
        name: 'large',
        parameters: { type: 'object', properties: { at: { type: 'integer' } } },
        handler: give,
      });
      registry.register({ ...tool, name: 'dot', handler: () => ({ dot: PNG }) });
    });

    const large = (at: number) => call(`large ${at}`, 'large', { at });
    const bytesOf = async (runId: string, n: number) => {
      const file = await fetch(`${current().jackdaw.url}/api/runs/${runId}/files/${n}`, { headers: ANN.headers });
      return file.status === 200 ? Buffer.from(await file.arrayBuffer()) : file.status;
    };
    const chat = async (...calls: ReturnType<typeof call>[]) => {
      current().llm.reset();
      current().llm.reply({ calls }, { text: 'the end' });
      const { body } = await current().jackdaw.chat({ query: 'go', includeDetails: true }, ANN.headers);
      expect(body['result']).toBe('the end');
      return { runId: String(body['run_id']), results: body['tool_results'] as unknown as { result: string }[] };
    };

    it('of 5 MB are stored as they are, once', async () => {
      const { runId, results } = await chat(large(0));
      expect(results[0]?.result).toBe(REFERENCE);
      expect(LARGE.equals((await bytesOf(runId, 1)) as Buffer)).toBe(true);
      const copies = (await current().stored()).split(MARK.toString('base64')).length - 1;
      expect(copies).toBe(keys === '' ? 1 : 0);
    });

    it('of calls that end together are stored in batches of their own', async () => {
      const { runId, results } = await chat(large(1), large(2), large(3), large(4));
      const numbers = results.map(({ result }) => Number(/^\[file (\d+): /.exec(result)?.[1]));
      expect(numbers.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4]);
      for (const [at, n] of numbers.entries()) expect(((await bytesOf(runId, n)) as Buffer).at(-1)).toBe(at + 1);
    });

    it('are copied with the calls of a fork, whose own files continue the numbers', async () => {
      const { runId } = await chat(large(0), call('d', 'dot', {}));
      current().llm.reply({ calls: [call('e', 'dot', {})] }, { text: 'forked' });
      const { body } = await current().jackdaw.post(`/api/runs/${runId}/fork`, { fromStep: 'model:2' }, ANN.headers);
      const fork = String(body['run_id']);
      await (await current().jackdaw.follow(fork, 0, ANN.headers)).all();
      expect(called).toBe(1);
      const files = await Promise.all([1, 2, 3].map((n) => bytesOf(fork, n)));
      expect(files.map((file) => (file as Buffer).length).toSorted((a, b) => b - a)).toEqual([5 * MB, 70, 70]);
      expect(files[2]).toEqual(PNG);
    });

    it('are deleted at the end of retention', async () => {
      const { runId } = await chat(large(0));
      await current()
        .jackdaw.app.get(RunRetentionService)
        .sweep(Date.now() + 10_000 * DAY_MS);
      expect(await bytesOf(runId, 1)).toBe(410);
      expect(await current().database.query('SELECT name FROM run_step')).toEqual([]);
    });

    it('are erased with their user', async () => {
      const { runId } = await chat(large(0));
      await current().jackdaw.send('/api/users/ann', { method: 'DELETE', headers: ANN.headers });
      expect(await bytesOf(runId, 1)).toBe(404);
      expect(await current().database.query('SELECT name FROM run_step')).toEqual([]);
    });
  });
});
