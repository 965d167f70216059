import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { keyHolder } from './support/api-keys.js';
import { CounterTools } from './support/counter.tool.js';
import { startJackdaw, type Answer, type Jackdaw } from './support/jackdaw.js';
import { SchemaValues, type Schema } from './support/schema-arbitrary.js';

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly schema: Schema;
}
interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
  };
}
interface SentRequest {
  readonly path: string;
  readonly body?: unknown;
}

/** Random valid requests of each operation; `npm run test:contract` sends more. */
const RUNS = Number(process.env['CONTRACT_RUNS'] ?? 4);
const SEED = Number(process.env['CONTRACT_SEED'] ?? 20_260_101);
const TIMEOUT_MS = 600_000 + RUNS * 2_000;

const document = JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};
const values = new SchemaValues(document);
/** The MCP endpoint speaks JSON-RPC, which the document does not describe. Streams of ended runs end by themselves. */
const OTHER_PROTOCOL = ['/mcp'];
/** Its stream has no end by default: test/run-changes.spec.ts. */
const ENDLESS = ['/api/events'];
const operations = Object.entries(document.paths)
  .filter(([path]) => ![...OTHER_PROTOCOL, ...ENDLESS].includes(path))
  .flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })),
  );
type Placed = (typeof operations)[number];

/** Opaque positions in a list; a random text is never one. */
const OPAQUE = ['cursor'];
/** The model is a configured one, a named tool exists, an image has a known format. */
const CHAT = /toolChoice(\.name)?[: ]|"rule":"(isImage|isModel)"/;
/** Fields called `__proto__` are refused everywhere. */
const EVERYWHERE = /"rule":"isAllowedKey"/;
/** Fields of a schedule exclude each other, and a time has a form of its own. */
const SCHEDULE =
  /give either cron or at|give agent or workflow|an agent needs a query|belongs to (an agent|a workflow)|must be five fields|timeZone|in the future/;
/** Reasons why a request is refused with 400 although its schema allows it: rules that a schema does not express. */
const REFUSED: Readonly<Record<string, RegExp>> = {
  chat: CHAT,
  streamChat: CHAT,
  startRun: CHAT,
  // The fork point is one of the run's steps, and the edit fits it.
  forkRun: /cannot be forked from|edit/,
  // An export has a schema of its own, which is versioned.
  importSession: /The session cannot be imported/,
  // Credentials are those of `config/mcp-servers.json`; a name has its own rule.
  addMcpServer: /"code":"MCP_SERVER_INVALID"/,
  // A schema has one pattern; the scopes are those of the role.
  createKey: /expiresAt must be in the future|does not have the scope|name must not be blank/,
  // A report has a schema of its own.
  createEval: /The report of the eval is not valid/,
  // At least one of the fields.
  giveFeedback: /give a score, a comment or a correction/,
  createSchedule: SCHEDULE,
  changeSchedule: SCHEDULE,
  // The input fits the workflow.
  startWorkflow: /The workflow was not started: input/,
};

const ANN = keyHolder('ann', 'acme', 'admin|operator');
let jackdaw: Jackdaw;
const ids: Record<string, string[]> = {};
beforeAll(async () => {
  jackdaw = await startJackdaw({
    tools: [new CounterTools()],
    env: {
      LLM_PROVIDER: 'offline',
      MCP_REST_REGISTRATION: 'true',
      BUDGET_DAY: 'tokens=100000000',
      API_KEYS: ANN.entry,
    },
    options: { workflows: [{ name: 'greet', nodes: [{ id: 'give', type: 'llm' }] }] },
  });
  const { body } = await jackdaw.chat({ query: 'hello', sessionId: 'known' }, ANN.headers);
  ids['/api/runs'] = [String(body['run_id'])];
  ids['/api/sessions'] = ['known'];
  ids['/api/tools'] = ['calculator', 'count'];
  ids['/api/agents'] = ['default'];
  ids['/api/workflows'] = ['greet'];
});
afterAll(() => jackdaw.stop());

const send = ({ method }: Placed, { path, body }: SentRequest): Promise<Answer> =>
  jackdaw.send(path, {
    method,
    headers: { ...ANN.headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

/** Random requests that the document allows: with known and unknown ids. */
function validRequests({ path, parameters = [], requestBody }: Placed): fc.Arbitrary<SentRequest> {
  const schema = requestBody?.content['application/json']?.schema;
  const known = Object.entries(ids).find(([prefix]) => path.startsWith(`${prefix}/`))?.[1] ?? [];
  const inPath = parameters
    .filter((each) => each.in === 'path')
    .map(({ name, schema: of }) => {
      const unknown =
        of['type'] === 'integer'
          ? fc.integer({ min: 1, max: 9 }).map(String)
          : fc.stringMatching(/^[A-Za-z0-9_-]{1,20}$/);
      const isKnown = known.length > 0 && of['type'] !== 'integer';
      return fc.tuple(fc.constant(name), isKnown ? fc.oneof(fc.constantFrom(...known), unknown) : unknown);
    });
  const inQuery = parameters
    .filter((each) => each.in === 'query' && !OPAQUE.includes(each.name))
    .map(({ name, schema: of, required = false }) => {
      const value = values.valid(of).map((one) => `${name}=${encodeURIComponent(String(one))}`);
      return required ? value : fc.option(value, { nil: undefined });
    });
  const body = schema ? values.valid(schema) : fc.constant(undefined);
  return fc.tuple(fc.tuple(...inPath), fc.tuple(...inQuery), body).map(([places, query, content]) => {
    const filled = places.reduce((all, [name, value]) => all.replace(`{${name}}`, encodeURIComponent(value)), path);
    const search = query.filter((one) => one !== undefined).join('&');
    return { path: search === '' ? filled : `${filled}?${search}`, ...(content !== undefined && { body: content }) };
  });
}

describe('random requests of the OpenAPI document', () => {
  it.each(operations.map((each) => [each.operationId, each] as const))(
    '%s accepts valid requests and refuses invalid ones',
    async (id, operation) => {
      const schema = operation.requestBody?.content['application/json']?.schema;
      const refused: unknown[] = [];
      const accepted: unknown[] = [];
      await fc.assert(
        fc.asyncProperty(validRequests(operation), async (request) => {
          const { status, text } = await send(operation, request);
          if (status === 400 && !REFUSED[id]?.test(text) && !EVERYWHERE.test(text)) refused.push([request, text]);
          expect([status < 500 || status === 503, text]).toEqual([true, text]);
          for (const { place, value } of schema ? values.invalid(schema, request.body ?? {}) : []) {
            const answer = await send(operation, { ...request, body: value });
            expect([answer.status < 500, answer.text]).toEqual([true, answer.text]);
            if (answer.status < 400) accepted.push([place, request.path, value]);
          }
        }),
        { numRuns: RUNS, seed: SEED, endOnFailure: true },
      );
      expect({ refused: refused.slice(0, 3), accepted: accepted.slice(0, 3) }).toEqual({ refused: [], accepted: [] });
    },
    TIMEOUT_MS,
  );
});
