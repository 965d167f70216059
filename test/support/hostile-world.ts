import assert from 'node:assert/strict';
import type { OpenAPIObject } from '@nestjs/swagger';
import { contextIdOf } from '../../src/tool-state/index.js';
import { keyHolder, makeKey } from './api-keys.js';
import { callTool } from './direct-calls.js';
import { evalReport } from './eval-reports.js';
import { FakeLlm } from './fake-llm.js';
import type { FakeReply, FakeRequest } from './fake-llm.types.js';
import { HostileTools } from './hostile.tool.js';
import { startJackdaw, type Answer, type Jackdaw } from './jackdaw.js';
import { scripted, untilStatus } from './mcp/scripted-servers.js';
import { CASES, SLY, toCall, type Things } from './route-cases.js';
import type { FilledCall, RouteField } from './route-fields.js';
import { call, type RouteCall } from './route-walk.js';
import type { TestDatabase } from './test-databases.js';
import { storeApproval } from './stored-approval.js';

/** Prefix of the message that names the tool to call. */
const CALLING = 'Call, please: ';
/** The tool that the waiting run of a route has called. */
const ASKING: Readonly<Record<string, string>> = {
  'POST /api/runs/{id}/approve': 'guarded',
  'POST /api/runs/{id}/deny': 'guarded',
  'POST /api/runs/{id}/input': 'ask',
  'POST /api/runs/{id}/settle': 'unsure',
  'POST /api/runs/{id}/cancel': 'guarded',
};
const FORK = 'POST /api/runs/{id}/fork';
const IMPORT = 'POST /api/sessions/import';
const ADD_SERVER = 'POST /api/mcp/servers';
/** Routes that consume data which other requests need. */
const SPENDING: readonly string[] = [...Object.keys(ASKING), 'POST /api/sessions/prune'];
const SAME_HANDLER = /^\/api\/tools\/(guarded|ask|unsure|count)\/call$/;
const NOTHING: Things = {
  ended: 'x',
  flow: 'x',
  waiting: 'x',
  session: 'x',
  key: 'x',
  user: 'x',
  state: 'x',
  approval: 'x',
  webhook: 'x',
  schedule: 'x',
  eval: 'x',
};

/** The fields beside a tested field, where they differ from `CASES`. */
const BODIES: Readonly<Record<string, unknown>> = {
  // Each question starts a session.
  'POST /api/agent/chat': { query: 'x' },
  'POST /api/agent/chat/stream': { query: 'x' },
  'POST /api/agent/runs': { query: 'x' },
  [`${FORK} body.edit.input`]: { fromStep: 'input' },
  [`${FORK} body.edit.output`]: { fromStep: 'node:give' },
  [`${FORK} body.edit.toolResult`]: { fromStep: 'tool:1:1' },
  // A workflow has an input instead of a question.
  'POST /api/schedules body.workflow': { cron: '0 9 1 1 *' },
  'POST /api/schedules body.input': { cron: '0 9 1 1 *', workflow: 'greet' },
  'POST /api/runs/{id}/settle body.result': { outcome: 'succeeded' },
  'POST /api/runs/{id}/settle body.error': { outcome: 'failed' },
  'POST /api/tools/{name}/call': { arguments: { value: 1 } },
  'POST /api/sessions/prune': { olderThanDays: 36_500 },
  [ADD_SERVER]: { name: 'added', url: 'http://127.0.0.1:9/mcp' },
  'POST /api/workflows/{name}/runs': { input: { value: 1 }, wait: true },
};
const TOOLS: Readonly<Record<string, string>> = {
  'POST /api/tools/{name}/call': 'echo',
  'POST /api/workflows/{name}/runs': 'give_back',
};

const AGENT_CHANGES = {
  instructions: 'Be brief.',
  tools: ['echo'],
  memory: { enabled: true, policy: 'sliding_window', maxMessages: 5, maxContextTokens: 1000 },
  limits: { maxIterations: 3, runTimeoutMs: 1000, maxResultBytes: 1000 },
};
const PARAMETERS = { temperature: 1, maxTokens: 9, topP: 1, frequencyPenalty: 0, presencePenalty: 0, stop: ['x'] };
const CHOICE = { toolChoice: { name: 'echo' } };
const FORMAT = { responseFormat: { schema: { type: 'object' }, name: 'x' } };

/** A server with one item of each kind, and requests of which only one field is wrong. */
export class HostileWorld {
  readonly ann = keyHolder('ann', 'a', 'admin|operator');
  private exported: unknown;
  private count = 0;

  private constructor(
    private readonly llm: FakeLlm,
    readonly jackdaw: Jackdaw,
  ) {}

  /** @param database instead of SQLite */
  static async start(database?: TestDatabase): Promise<HostileWorld> {
    const llm = await FakeLlm.start();
    llm.always(reply);
    const { entry } = keyHolder('ann', 'a', 'admin|operator');
    const jackdaw = await startJackdaw({
      llm,
      tools: [new HostileTools()],
      options: {
        mcpServers: [scripted('mcp', { tools: [SLY], content: true })],
        workflows: [
          { name: 'greet', nodes: [{ id: 'say', type: 'llm' }] },
          {
            name: 'give_back',
            nodes: [{ id: 'give', type: 'tool', tool: 'echo', arguments: { value: '{{input.value}}' } }],
          },
        ],
      },
      env: {
        API_KEYS: entry,
        DOCS_ENABLED: 'true',
        // A model that accepts all parameters.
        LLM_MODEL: 'gpt-4o',
        LONG_TERM_MEMORY: 'on',
        LOG_LEVEL: 'error',
        ACCESS_LOG: 'on',
        MCP_REST_REGISTRATION: 'true',
        ...(database && database.kind !== 'sqlite' && { DATABASE_URL: database.url }),
      },
    });
    await untilStatus(jackdaw, 'mcp');
    const world = new HostileWorld(llm, jackdaw);
    world.exported = await world.exportOf(await world.chat(`${CALLING}echo`));
    return world;
  }

  async stop(): Promise<void> {
    await this.jackdaw.stop();
    await this.llm.close();
  }

  /** The OpenAPI document, without pages of tools of this world that equal the one of `echo`. */
  async document(): Promise<OpenAPIObject> {
    const document = (await this.jackdaw.get('/docs/json')).body as unknown as OpenAPIObject;
    const paths = Object.entries(document.paths).filter(([path]) => !SAME_HANDLER.test(path));
    return { ...document, paths: Object.fromEntries(paths) };
  }

  /** Sample bodies of the parts that the OpenAPI document leaves open. */
  samples(): Readonly<Record<string, readonly unknown[]>> {
    return {
      'POST /api/agent/chat': [CHOICE, FORMAT],
      'POST /api/tools/{name}/call': [{ arguments: { value: { a: [1] } } }],
      'POST /api/workflows/{name}/runs': [{ input: { value: 1 } }],
      'POST /api/runs/{id}/approve': [{ arguments: { value: 1 } }],
      [FORK]: [{ edit: { model: { parameters: PARAMETERS } } }, { edit: { agent: AGENT_CHANGES } }],
      [IMPORT]: [{ session: this.exported }],
      'POST /api/evals': [{ report: evalReport() }],
      [ADD_SERVER]: [{ headers: { 'x-a': 'b' }, auth: { type: 'bearer', token: 'x' } }],
    };
  }

  /** The rest of the request around a field. */
  async given({ route, name }: Pick<RouteField, 'route' | 'name'>): Promise<Partial<RouteCall>> {
    // Recorded model requests are no longer needed, and would fill the memory.
    this.llm.requests.length = this.llm.envelopes.length = 0;
    const found = CASES[route];
    if (!found) return {};
    const tool = TOOLS[route] ?? found.tool;
    const things = { ...NOTHING };
    if (found.id && name !== 'path.id') things[found.id] = await this.make(found.id, route, name);
    const body = BODIES[`${route} ${name}`] ?? BODIES[route];
    return {
      ...toCall({ route, ...found, ...(tool !== undefined && { tool }) }, things),
      ...(body !== undefined && { body }),
      ...(route === IMPORT && { body: { session: this.exported, id: `imported-${++this.count}` } }),
    };
  }

  ask(wanted: FilledCall): Promise<Answer> {
    return call(this.jackdaw, wanted, { ...this.ann.headers, ...wanted.headers });
  }

  /**
   * Waits for the work that an answer started, and undoes side effects on others. @returns whether `given` is consumed
   */
  async settle({ route }: RouteField, { body }: Answer): Promise<boolean> {
    const runId = body['run_id'] as string | undefined;
    if (runId !== undefined) await this.events(runId);
    if (route === ADD_SERVER) await this.forget(`/api/mcp/servers/${encodeURIComponent(String(body['name']))}`);
    return SPENDING.includes(route) || route === IMPORT;
  }

  /** All events of a run to the end of its stream, as text. */
  async events(runId: string): Promise<string> {
    return (await this.jackdaw.get(`/api/runs/${runId}/events`, this.ann.headers)).text;
  }

  /** A run that waits for a person. @param route the route that answers it */
  async waiting(route: string): Promise<string> {
    const { status, body } = await this.chat(`${CALLING}${ASKING[route]}`);
    assert.equal(status, 202, JSON.stringify(body));
    return String(body['run_id']);
  }

  /** An ended run of an agent with a tool call, or of a workflow. */
  async ended(kind: 'agent' | 'workflow'): Promise<string> {
    const { status, body } =
      kind === 'agent'
        ? await this.chat(`${CALLING}echo`)
        : await this.post('/api/workflows/give_back/runs', { input: { value: 1 }, wait: true });
    assert.equal(status, 200, JSON.stringify(body));
    return String(body['run_id']);
  }

  post(path: string, body?: unknown): Promise<Answer> {
    return this.jackdaw.post(path, body, this.ann.headers);
  }

  put(path: string, body: unknown): Promise<Answer> {
    const headers = { ...this.ann.headers, 'content-type': 'application/json' };
    return this.jackdaw.send(path, { method: 'PUT', headers, body: JSON.stringify(body) });
  }

  get(path: string): Promise<Answer> {
    return this.jackdaw.get(path, this.ann.headers);
  }

  chat(query: string): Promise<Answer> {
    return this.post('/api/agent/chat', { query });
  }

  private async exportOf({ body }: Answer): Promise<unknown> {
    return (await this.get(`/api/sessions/${String(body['session_id'])}/export`)).body;
  }

  private async forget(path: string): Promise<void> {
    await this.jackdaw.send(path, { method: 'DELETE', headers: this.ann.headers });
  }

  private async make(thing: keyof Things, route: string, field: string): Promise<string> {
    switch (thing) {
      case 'ended':
        return this.ended(['body.edit.input', 'body.edit.output'].includes(field) ? 'workflow' : 'agent');
      case 'flow':
        return this.ended('workflow');
      case 'waiting':
        return this.waiting(route);
      case 'session':
        return String((await this.chat('x')).body['session_id']);
      case 'key':
        return (await makeKey(this.jackdaw, this.ann.headers)).id;
      case 'state':
        return this.state();
      case 'approval': {
        const session = String((await this.chat('x')).body['session_id']);
        return storeApproval(this.jackdaw, { id: 'ann', tenant: 'a', roles: ['user'] }, session);
      }
      case 'webhook': {
        const hook = { url: 'https://hooks.example/x' };
        return String((await this.jackdaw.post('/api/webhooks', hook, this.ann.headers)).body['id']);
      }
      case 'schedule': {
        const daily = { query: 'x', cron: '0 9 1 1 *' };
        return String((await this.jackdaw.post('/api/schedules', daily, this.ann.headers)).body['id']);
      }
      case 'eval':
        return String((await this.post('/api/evals', { report: evalReport() })).body['id']);
      case 'user':
        return 'x';
    }
  }

  private async state(): Promise<string> {
    const session = String((await this.chat('x')).body['session_id']);
    const { status, text } = await callTool(this.jackdaw, 'count', { sessionId: session }, this.ann.headers);
    assert.equal(status, 200, text);
    return contextIdOf({ tenant: 'a', session, tool: 'count' });
  }
}

/** Calls the tool that the user's message or the request names, then ends. */
function reply({ messages, tool_choice: choice, response_format: format }: FakeRequest): FakeReply {
  const last = messages.at(-1);
  if (choice !== undefined && typeof choice === 'object') {
    return { calls: [{ id: 'c', name: 'echo', arguments: { value: 1 } }] };
  }
  if (format !== undefined) return { text: '{}' };
  const said = last?.role === 'user' ? String(last.content) : '';
  if (!said.startsWith(CALLING)) return { text: 'fine' };
  return { calls: [{ id: 'c', name: said.slice(CALLING.length), arguments: { value: 1 } }] };
}
