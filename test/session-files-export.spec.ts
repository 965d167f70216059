import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '../src/persistence/index.js';
import { ToolRegistry } from '../src/tool/index.js';
import { keyHolder } from './support/api-keys.js';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { binary } from './support/mcp/media.mjs';

const ANN = keyHolder('ann', 'a', 'admin');
const BOB = keyHolder('bob', 'b', 'admin');
const EVE = keyHolder('eve', 'c', 'admin');
/** Another user of Bob's tenant. */
const CAL = keyHolder('cal', 'b', 'admin');
const BYTES = binary(900, '%PDF-1.7');

let llm: FakeLlm;
let jackdaw: Jackdaw;
beforeAll(async () => {
  llm = await FakeLlm.start();
  const env = {
    API_KEYS: `${ANN.entry},${BOB.entry},${EVE.entry},${CAL.entry}`,
    AGENT_MAX_FILE_BYTES: '2000',
    AGENT_MAX_IMAGE_BYTES: '0',
  };
  jackdaw = await startJackdaw({ llm, env });
  const tool = { name: 'bytes', description: 'Gives bytes.', effect: 'read' as const };
  jackdaw.app.get(ToolRegistry, { strict: false }).register({ ...tool, handler: () => BYTES });
});
afterEach(() => llm.reset());
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
});

interface Exported {
  session: object;
  turns: { run_id: string; files?: Record<string, unknown>[] }[];
}

async function exported(sessionId: string): Promise<Exported> {
  llm.reply({ calls: [{ id: 'c', name: 'bytes', arguments: {} }] }, { text: 'the end' });
  await jackdaw.chat({ query: 'go', sessionId }, ANN.headers);
  return (await jackdaw.get(`/api/sessions/${sessionId}/export`, ANN.headers)).body as unknown as Exported;
}

const load = (session: unknown, id: string, { headers } = BOB) =>
  jackdaw.post('/api/sessions/import', { session, id }, headers);
const fetchFile = (path: string, { headers } = BOB) => fetch(`${jackdaw.url}/api/${path}`, { headers });
const importedRows = () =>
  jackdaw.app
    .get(Database, { strict: false })
    .query(`SELECT name, subject FROM run_step WHERE run_id LIKE 'imported:%'`);

describe('the files of a session', () => {
  it('are exported, and imported by another tenant, who reads them as those of the run', async () => {
    const session = await exported('original');
    const file = { n: 1, media_type: 'application/pdf', bytes: 900, data: BYTES.toString('base64') };
    expect(session.turns).toMatchObject([{ files: [file] }]);
    expect((await load(session, 'copy')).status).toBe(201);
    const path = `runs/${session.turns[0]!.run_id}/files`;
    const answer = await fetchFile(`${path}/1`);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/pdf',
      'content-disposition': 'attachment',
      'content-security-policy': 'sandbox',
      'x-content-type-options': 'nosniff',
    });
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(BYTES);
    const again = (await jackdaw.get('/api/sessions/copy/export', BOB.headers)).body as unknown as Exported;
    expect(again.turns).toEqual(session.turns);
    const statuses = [
      await fetchFile(`${path}/1`, ANN),
      await fetchFile(`${path}/1`, EVE),
      await fetchFile(`${path}/2`),
    ].map(({ status }) => status);
    expect(statuses).toEqual([200, 404, 404]);
  });

  it('are deleted with an imported session', async () => {
    await load(await exported('again'), 'brief');
    const before = await importedRows();
    const { headers } = BOB;
    await jackdaw.send('/api/sessions/brief', { method: 'DELETE', headers });
    expect((await importedRows()).length).toBe(before.length - 1);
  });

  it('that an import brings are untrusted: their bytes decide, and their sizes are limited', async () => {
    const session = await exported('forged');
    const withFiles = (...files: object[]) => ({ ...session, turns: [{ ...session.turns[0], files }] });
    const file = { n: 1, media_type: 'image/png', bytes: 1, data: Buffer.from('<script>').toString('base64') };
    expect((await load(withFiles(file), 'script')).status).toBe(201);
    const { headers } = await fetchFile(`runs/${session.turns[0]!.run_id}/files/1`);
    expect([headers.get('content-type'), headers.get('content-disposition')]).toEqual([
      'application/octet-stream',
      'attachment',
    ]);
    const refused = [
      await load(withFiles({ ...file, data: binary(2001).toString('base64') }), 'x'),
      await load(withFiles(file, file), 'x'),
      await load(withFiles({ ...file, data: 'no base64!' }), 'x'),
      await load(
        withFiles(...Array.from({ length: 23 }, (_, n) => ({ ...file, n: n + 1, data: 'AAAA'.repeat(600) }))),
        'x',
      ),
    ];
    expect(refused.map(({ status, body }) => [status, body['code']])).toEqual(
      refused.map(() => [400, 'VALIDATION_FAILED']),
    );
  });

  it('are read as those of the run by their importer only, and never in place of a run of the tenant', async () => {
    const session = await exported('named');
    const run_id = 'run-of-elsewhere';
    expect((await load({ ...session, turns: [{ ...session.turns[0], run_id }] }, 'elsewhere')).status).toBe(201);
    const path = `runs/${run_id}/files/1`;
    expect([(await fetchFile(path)).status, (await fetchFile(path, CAL)).status]).toEqual([200, 404]);
    const here = session.turns[0]!.run_id;
    const forged = [{ ...session.turns[0], files: [{ n: 1, media_type: 'text/html', bytes: 1, data: 'AAAA' }] }];
    expect((await load({ ...session, turns: forged }, 'forgery', ANN)).status).toBe(201);
    const pruned = { sql: 'UPDATE run SET pruned_at = 1 WHERE id = ?', params: [here] };
    await jackdaw.app.get(Database, { strict: false }).commit([pruned]);
    expect((await fetchFile(`runs/${here}/files/1`, ANN)).status).toBe(410);
  });

  it('of a run of another session are not exported with an import that names the run', async () => {
    const session = await exported('secret');
    const { files: _files, ...turn } = session.turns[0]!;
    expect((await load({ ...session, turns: [turn] }, 'thief', ANN)).status).toBe(201);
    const { body } = await jackdaw.get('/api/sessions/thief/export', ANN.headers);
    expect((body as unknown as Exported).turns[0]).not.toHaveProperty('files');
  });
});
