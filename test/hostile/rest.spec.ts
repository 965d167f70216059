import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { OpenAPIObject } from '@nestjs/swagger';
import { Tool } from '../../src/tool/index.js';
import { keyHolder } from '../support/api-keys.js';
import { callTool } from '../support/direct-calls.js';
import { FakeLlm } from '../support/fake-llm.js';
import { IS_WHOLE, jsonFor, NAUGHTY, naughtyFor } from '../support/hostile-values.js';
import { startJackdaw, type Answer, type Jackdaw } from '../support/jackdaw.js';
import { fieldsOf, type RouteField } from '../support/route-fields.js';
import { call } from '../support/route-walk.js';

/** How many naughty strings, and how much of any JSON, a field is sent in the short form. */
const SHORT = 4;
const TIMEOUT_MS = IS_WHOLE ? 14_400_000 : 300_000;
const ANN = keyHolder('ann', 'a', 'admin');

class EchoTools {
  @Tool({
    description: 'Gives back what it is given.',
    effect: 'read',
    input: { type: 'object', properties: { value: {} }, required: ['value'] },
    output: { type: 'object', properties: { value: {} } },
  })
  echo(input: { value: unknown }): unknown {
    return input;
  }
}

let llm: FakeLlm;
let jackdaw: Jackdaw;

beforeAll(async () => {
  llm = await FakeLlm.start();
  llm.always({ text: 'fine' });
  jackdaw = await startJackdaw({
    llm,
    tools: [new EchoTools()],
    env: { API_KEYS: ANN.entry, DOCS_ENABLED: 'true', LONG_TERM_MEMORY: 'on', LOG_LEVEL: 'error' },
  });
});
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
});

async function expectAlive(): Promise<void> {
  expect((await jackdaw.chat({ query: 'still there?' }, ANN.headers)).body['result']).toBe('fine');
  // Whatever was sent, nothing went wrong inside.
  expect(jackdaw.log).toEqual([]);
}

/** Never a fault of ours: it was done, or the client is told what is wrong. */
function faultOf({ status, body, headers, text }: Answer): string | undefined {
  if (status === 500 || text.includes('"code":"INTERNAL"')) return `${status} ${text.slice(0, 300)}`;
  if (status < 400) return undefined;
  const isProblem =
    headers.get('content-type')?.startsWith('application/problem+json') && typeof body['code'] === 'string';
  return isProblem ? undefined : `${status} without a problem: ${text.slice(0, 300)}`;
}

async function send({ route, name, request }: RouteField, value: unknown): Promise<string | undefined> {
  const wanted = request(value);
  if (!wanted) return undefined;
  const answer = await call(jackdaw, wanted, { ...ANN.headers, ...wanted.headers });
  const fault = faultOf(answer);
  return fault && `${route} ${name} with ${JSON.stringify(value)?.slice(0, 200)}: ${fault}`;
}

describe('every field of every route', () => {
  it(
    'takes naughty strings and any JSON, or refuses them as the client’s mistake',
    async () => {
      const fields = fieldsOf((await jackdaw.get('/docs/json')).body as unknown as OpenAPIObject);
      const names = fields.map(({ route, name }) => `${route} ${name}`);
      // The walk finds what there is to find.
      expect(names).toEqual(
        expect.arrayContaining([
          'POST /api/agent/chat body.query',
          'POST /api/agent/chat body.images.0.url',
          'GET /api/runs/{id} path.id',
          'GET /api/runs query.cursor',
          'POST /api/agent/chat header.idempotency-key',
          'POST /api/tools/calculator/call body.arguments.expression',
          'PUT /api/sessions/{id}/metadata body.metadata',
        ]),
      );
      const faults: string[] = [];
      for (const [index, field] of fields.entries()) {
        for (const value of [...naughtyFor(index, SHORT), ...jsonFor(index, SHORT)]) {
          const fault = await send(field, value);
          if (fault !== undefined) faults.push(fault);
        }
      }
      expect(faults).toEqual([]);
      await expectAlive();
    },
    TIMEOUT_MS,
  );
});

describe('what is taken', () => {
  it(
    'comes back byte-exact: from tools, metadata and conversations',
    async () => {
      const strings = IS_WHOLE ? NAUGHTY : NAUGHTY.filter((_, i) => i % 5 === 0);
      await jackdaw.post('/api/sessions', { id: 'exact' }, ANN.headers);
      for (const [index, value] of strings.entries()) {
        const echoed = await callTool(jackdaw, 'echo', { arguments: { value } }, ANN.headers);
        expect(echoed.body['result']).toEqual({ value });
        const metadata = { [`k${value}`]: value };
        const init = { method: 'PUT', headers: { ...ANN.headers, 'content-type': 'application/json' } };
        const put = await jackdaw.send('/api/sessions/exact/metadata', { ...init, body: JSON.stringify({ metadata }) });
        expect(Math.floor(put.status / 100)).toBe(2);
        const { body } = await jackdaw.get('/api/sessions/exact/metadata', ANN.headers);
        expect(body['metadata']).toEqual(metadata);
        const sessionId = `said-${index}`;
        const { status } = await jackdaw.chat({ query: value, sessionId }, ANN.headers);
        const said = status === 400 ? 'refused' : (await jackdaw.messages(sessionId, ANN.headers))[0]?.['content'];
        // Only what is blank.
        expect(said).toBe(value.trim() === '' ? 'refused' : value);
      }
      await expectAlive();
    },
    TIMEOUT_MS,
  );
});
