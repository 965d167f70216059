import { expect } from 'vitest';
import { randomBytes } from 'node:crypto';
import { ToolRegistry } from '../../src/tool/index.js';
import { keyHolder } from './api-keys.js';
import { evalReport } from './eval-reports.js';
import { callTool } from './direct-calls.js';
import { byTurn, call } from './forks.js';
import type { PrivateWorld } from './private-world.js';
import { storeApproval } from './stored-approval.js';

/** In every marker of this process. */
export const UNIQUE = randomBytes(6).toString('hex');
/** In every text of Ben's. */
export const TEXT = `heron${UNIQUE}`;
/** In texts of Ben's that runs of others copied, and in replies that quote Ben. */
export const QUOTED = `quail${UNIQUE}`;
/** In the ids of Ben and of Ben's sessions. */
export const ID = `ben${UNIQUE}`;
export const BEN = keyHolder(ID, 'a', 'admin');
export const ANN = keyHolder('ann', 'a', 'admin');

/**
 * Stores texts of Ben through every feature, in new sessions each round.
 * @returns the runs of others that an erasure of Ben leaves
 */
export async function useEverything(
  { llm, jackdaw }: PrivateWorld,
  round = '',
): Promise<{ fork: string; answered: string; later: string[] }> {
  const session = `${ID}-own${round}`;
  const chat = (query: string, sessionId: string, { headers } = BEN, more: object = {}) =>
    jackdaw.chat({ query, sessionId, ...more }, headers);
  const idOf = (body: Readonly<Record<string, unknown>>) => String(body['run_id']);
  const ended = async (runId: string) => void (await (await jackdaw.follow(runId, 0, ANN.headers)).all());

  const tools = jackdaw.app.get(ToolRegistry, { strict: false });
  if (!tools.has('lookup'))
    tools.register({ name: 'lookup', description: 'Looks.', effect: 'read', cacheTtlMs: 60_000, handler: () => TEXT });

  await jackdaw.post('/api/sessions', { id: session, metadata: { note: TEXT } }, BEN.headers);
  llm.always(
    byTurn(
      {
        text: `thinks of ${TEXT}`,
        calls: [
          call('a', 'look', { text: TEXT }),
          call('b', 'sequentialthinking', {
            thought: TEXT,
            thoughtNumber: 1,
            totalThoughts: 1,
            nextThoughtNeeded: false,
          }),
          call('c', 'remember', { text: `The user is fond of a ${TEXT}.` }),
          call('d', 'recall', { query: TEXT }),
          call('e', 'lookup', {}),
        ],
      },
      { text: `an answer about ${TEXT}` },
    ),
  );
  const first = await chat(
    `about ${TEXT}`,
    session,
    { ...BEN, headers: { ...BEN.headers, 'idempotency-key': TEXT + round } },
    {
      metadata: { from: TEXT },
    },
  );
  expect([first.status, first.body['result']]).toEqual([200, `an answer about ${TEXT}`]);
  llm.always({ text: JSON.stringify({ bird: TEXT }) });
  const schema = { type: 'object', description: TEXT, properties: { bird: { type: 'string' } } };
  await chat(`cached ${TEXT}`, session, BEN, { responseFormat: { schema }, parameters: { temperature: 0 } });
  await callTool(jackdaw, 'look', { arguments: { text: TEXT } }, BEN.headers);
  const feedback = { comment: TEXT, correction: TEXT };
  await jackdaw.post(`/api/runs/${idOf(first.body)}/feedback`, feedback, BEN.headers);
  const report = evalReport({ name: `eval-${round}`, agent: TEXT });
  expect((await jackdaw.post('/api/evals', { report }, BEN.headers)).status).toBe(201);
  await jackdaw.post('/api/schedules', { query: `report on ${TEXT}`, cron: '0 9 1 1 *' }, BEN.headers);

  llm.always({ text: 'done' });
  const fork = (runId: string, edit: object, { headers }: typeof BEN) =>
    jackdaw.post(`/api/runs/${runId}/fork`, { fromStep: 'model:1', edit }, headers);
  const own = await fork(idOf(first.body), { message: TEXT, agent: { instructions: `Speak as a ${TEXT}.` } }, BEN);
  expect(own.status).toBe(202);
  await ended(idOf(own.body));

  const exported = await jackdaw.get(`/api/sessions/${session}/export`, BEN.headers);
  const copy = exported.body as unknown as { turns: Record<string, unknown>[] };
  const file = { n: 1, media_type: 'text/plain', name: `${TEXT}.txt`, data: Buffer.from(TEXT).toString('base64') };
  copy.turns[0]!['files'] = [{ ...file, bytes: TEXT.length }];
  const imported = await jackdaw.post('/api/sessions/import', { session: copy, id: `${ID}-copy${round}` }, BEN.headers);
  expect([imported.status, imported.body['detail']]).toEqual([201, undefined]);

  await storeApproval(jackdaw, { id: ID, tenant: 'a', roles: ['admin'] }, session, [`${TEXT}.example`]);

  // Decisions: of Ben in Ben's run, and in a run of Ann.
  const decide = async (sessionId: string, holder: typeof BEN, reason: string): Promise<string> => {
    llm.always(byTurn({ calls: [call('p', 'pay', { to: 'x', amount: 1 })] }, { text: 'not paid' }));
    const { status, body } = await chat('pay', sessionId, holder);
    expect(status).toBe(202);
    expect((await jackdaw.post(`/api/runs/${idOf(body)}/deny`, { reason }, BEN.headers)).status).toBe(202);
    await ended(idOf(body));
    return idOf(body);
  };
  await decide(`${ID}-pays${round}`, BEN, TEXT);
  const answered = await decide(`ann-pays${round}`, ANN, QUOTED);

  // Ann forks a run of Ben and quotes Ben.
  llm.always({ text: `they said ${QUOTED}` });
  const forkedFrom = await chat(QUOTED, `${ID}-shared${round}`);
  const forked = await fork(idOf(forkedFrom.body), {}, ANN);
  expect(forked.status).toBe(202);
  await ended(idOf(forked.body));
  const inTheirs = await chat('and what did they say?', `${ID}-shared${round}`, ANN);

  // Ben speaks in a session of Ann.
  llm.always({ text: 'done' });
  await chat('hello', `ann-shared${round}`, ANN);
  await chat(`hello from ${TEXT}`, `ann-shared${round}`);
  const inAnns = await chat('bye', `ann-shared${round}`, ANN);
  return { fork: idOf(forked.body), answered, later: [idOf(inTheirs.body), idOf(inAnns.body)] };
}
