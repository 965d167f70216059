import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ToolRegistry } from '../src/tool/index.js';
import { keyHolder } from './support/api-keys.js';
import { call } from './support/forks.js';
import { binary } from './support/mcp/media.mjs';
import { describeWorlds, newKey } from './support/private-world.js';
import { testServers } from './support/test-databases.js';

const ANN = keyHolder('ann', 'a', 'admin');
const CAL = keyHolder('cal', 'a', 'admin');
const BYTES = binary(900, '%PDF-1.7');
const FILE = { n: 1, media_type: 'application/pdf', bytes: 900, data: BYTES.toString('base64') };

interface Exported {
  readonly turns: { readonly run_id: string; readonly files?: object[] }[];
}

describeWorlds('files of a branch of a session', await testServers(), (current) => {
  describe.each([
    ['plain', ''],
    ['encrypted', newKey('k1')],
  ])('%s', (how, keys) => {
    const name = (id: string) => `${how}-${id}`;
    beforeAll(async () => {
      const { app } = await current().start(keys, { API_KEYS: `${ANN.entry},${CAL.entry}` });
      const tool = { name: 'bytes', description: 'Gives bytes.', effect: 'read' as const };
      app.get(ToolRegistry, { strict: false }).register({ ...tool, handler: () => BYTES });
    });
    afterEach(() => current().llm.reset());

    const chat = async (sessionId: string, ...replies: Parameters<ReturnType<typeof current>['llm']['reply']>) => {
      current().llm.reset();
      current().llm.reply(...replies);
      const { body } = await current().jackdaw.chat({ query: 'go', sessionId }, ANN.headers);
      return String(body['run_id']);
    };
    const withFile = [{ calls: [call('c', 'bytes', {})] }, { text: 'the end' }] as const;
    const exported = async (id: string) =>
      (await current().jackdaw.get(`/api/sessions/${id}/export`, ANN.headers)).body as unknown as Exported;
    const filesOf = async (id: string) => (await exported(id)).turns.map(({ files = [] }) => files);
    const remove = async (path: string) => {
      const { status } = await current().jackdaw.send(`/api/${path}`, { method: 'DELETE', headers: ANN.headers });
      expect(status).toBeLessThan(300);
    };
    const load = async (session: object, id: string) =>
      expect((await current().jackdaw.post('/api/sessions/import', { session, id }, ANN.headers)).status).toBe(201);
    /** Forks a run from its first step. @returns the new run */
    const fork = async (runId: string, sessionId: string, who = ANN) => {
      const { llm, jackdaw } = current();
      llm.reset();
      llm.reply({ text: 'forked' });
      const { status, body } = await jackdaw.post(
        `/api/runs/${runId}/fork`,
        { fromStep: 'model:1', sessionId },
        who.headers,
      );
      expect(status).toBe(202);
      await (await jackdaw.follow(String(body['run_id']), 0, who.headers)).all();
      return String(body['run_id']);
    };
    const rows = () => current().database.query(`SELECT name FROM run_step WHERE run_id LIKE 'imported:%'`);

    it('are exported: those of the copied turns, also of a branch of the branch and after the session is deleted', async () => {
      await chat(name('own'), ...withFile);
      const second = await chat(name('own'), { text: 'second' });
      const third = await fork(second, name('branch'));
      expect(await filesOf(name('branch'))).toEqual([[FILE], []]);
      await fork(third, name('twig'));
      await remove(`sessions/${name('own')}`);
      await remove(`sessions/${name('branch')}`);
      expect(await filesOf(name('twig'))).toEqual([[FILE], []]);
      const before = (await rows()).length;
      await remove(`sessions/${name('twig')}`);
      expect((await rows()).length).toBe(before - 1);
    });

    it('are those of the copied turns only: later turns and other sessions give it none', async () => {
      const first = await chat(name('long'), { text: 'first' });
      await chat(name('long'), ...withFile);
      const before = (await rows()).length;
      await fork(first, name('short'));
      expect(await filesOf(name('short'))).toEqual([[]]);
      expect((await rows()).length).toBe(before);
    });

    it('survive the imported session from which they came, and are deleted with the branch', async () => {
      await chat(name('source'), ...withFile);
      const foreign = await exported(name('source'));
      const turns = foreign.turns.map((turn) => ({ ...turn, run_id: name('elsewhere') }));
      await load({ ...foreign, turns }, name('imported'));
      const run = await chat(name('imported'), { text: 'next' });
      await fork(run, name('copy'), CAL);
      const before = (await rows()).length;
      await remove(`sessions/${name('imported')}`);
      expect(await filesOf(name('copy'))).toEqual([[FILE], []]);
      const path = `${current().jackdaw.url}/api/runs/${name('elsewhere')}/files/1`;
      const answer = await fetch(path, { headers: CAL.headers });
      expect(Buffer.from(await answer.arrayBuffer())).toEqual(BYTES);
      await remove(`sessions/${name('copy')}`);
      expect((await rows()).length).toBe(before - 2);
    });

    it('are not those of a run that an import only names', async () => {
      await chat(name('secret'), ...withFile);
      const { turns, ...rest } = await exported(name('secret'));
      await load({ ...rest, turns: turns.map(({ files: _files, ...turn }) => turn) }, name('thief'));
      await fork(await chat(name('thief'), { text: 'next' }), name('loot'));
      expect(await filesOf(name('loot'))).toEqual([[], []]);
    });

    it('are erased with the user whose run made them', async () => {
      await chat(name('hers'), ...withFile);
      await fork(await chat(name('hers'), { text: 'second' }), name('stays'), CAL);
      expect((await rows()).length).toBe(1);
      await remove('users/ann');
      expect(await rows()).toEqual([]);
    });
  });
});
