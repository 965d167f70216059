import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { estimateTokens } from '../src/llm/index.js';
import { ToolRegistry } from '../src/tool/index.js';
import type { FakeRequest } from './support/fake-llm.types.js';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { listed, scripted, untilStatus } from './support/mcp/scripted-servers.js';

const VERBS = ['create', 'delete', 'list', 'search', 'update'];
const THINGS: Readonly<Record<string, readonly string[]>> = {
  mail: ['draft', 'folder', 'label', 'message', 'rule', 'signature', 'template', 'thread', 'attachment', 'contact'],
  tracker: ['issue', 'board', 'sprint', 'epic', 'comment', 'milestone', 'release', 'worklog', 'component', 'watcher'],
  files: ['document', 'directory', 'share', 'version', 'lock', 'tag', 'preview', 'quota', 'archive', 'link'],
  crm: ['lead', 'account', 'deal', 'pipeline', 'campaign', 'activity', 'quote', 'territory', 'forecast', 'segment'],
  billing: ['invoice', 'refund', 'plan', 'coupon', 'payout', 'dispute', 'tax', 'meter', 'balance', 'receipt'],
};
const CHINESE = ['订单', '发票', '客户', '库存', '物流', '优惠券', '报表', '员工', '合同', '仓库'];
const ACTIONS = ['创建', '删除', '列出', '搜索', '更新'];
const INPUT = {
  type: 'object',
  properties: { id: { type: 'string', description: 'The identifier of the object.' }, value: { type: 'string' } },
  required: ['id'],
};
const RESULT = { content: [{ type: 'text', text: 'found it' }] };

/** Their calls need no approval of their own. */
const HANDLING = { untrusted: false, hints: 'believe', effects: {} };

/** Six servers with 50 tools each. */
const SERVERS = [
  ...Object.entries(THINGS).map(([server, things]) => {
    const tools = things.flatMap((thing) =>
      VERBS.map((verb) => describedTool(`${verb}_${thing}`, `${verb}s a ${thing}.`)),
    );
    return scripted(server, { tools, results: Object.fromEntries(tools.map(({ name }) => [name, RESULT])) }, HANDLING);
  }),
  scripted(
    'erp',
    {
      tools: CHINESE.flatMap((thing, n) =>
        ACTIONS.map((verb, m) => describedTool(`op_${n}_${m}`, `${verb}${thing}。`)),
      ),
      results: { op_4_3: RESULT },
    },
    HANDLING,
  ),
];

function describedTool(name: string, description: string) {
  return listed(name, { description, inputSchema: INPUT }) as { readonly name: string };
}

const MODEL = { provider: 'openai', name: 'm1' };
const ADMIN = 'billing__delete_invoice';

let llm: FakeLlm;
let jackdaw: Jackdaw;

beforeAll(async () => {
  llm = await FakeLlm.start();
  jackdaw = await startJackdaw({
    llm,
    options: {
      mcpServers: SERVERS,
      builtinTools: ['calculator', 'get_timestamp'],
      securityPolicy: { tools: [{ deny: [ADMIN] }] },
      agents: [
        { name: 'all', model: MODEL },
        { name: 'text', model: MODEL, protocol: 'react' },
        { name: 'xml', model: MODEL, protocol: 'xml' },
        { name: 'named', model: MODEL, tools: ['calculator', 'mail__*', 'tracker__create_issue'] },
        { name: 'careful', model: MODEL, approvals: ['tracker__*', 'find_tools'] },
        { name: 'few', model: MODEL, tools: ['mail__create_*'] },
        { name: 'small', model: MODEL, tools: ['mail__create_*'], limits: { maxTools: 4, maxToolTokens: 100_000 } },
        { name: 'short', model: MODEL, tools: ['mail__create_*'], limits: { maxToolTokens: 200 } },
        { name: 'tiny', model: MODEL, limits: { maxResultBytes: 130 } },
        { name: 'whole', model: MODEL, limits: { maxTools: 1_000, maxToolTokens: 1_000_000 } },
      ],
    },
  });
  await Promise.all([...Object.keys(THINGS), 'erp'].map((name) => untilStatus(jackdaw, name)));
});
beforeEach(() => {
  llm.reset();
  llm.always({ text: 'done' });
});
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
});

const invoke = (tool: string, argument: string, value: string) =>
  `<function_calls>\n<invoke name="${tool}">\n<parameter name="${argument}">${value}</parameter>\n</invoke>\n</function_calls>`;
const namesIn = (request: FakeRequest) => (request.tools ?? []).map((tool) => tool.function.name);
const lastMessage = () => String(llm.lastRequest.messages.at(-1)?.content);

/** Asks an agent whose model first makes these calls, one in each reply. @returns the run's answer */
async function run(agent: string, ...calls: readonly (readonly [name: string, args: object])[]) {
  for (const [name, args] of calls) llm.reply({ calls: [{ name, arguments: { ...args } }] });
  return (await jackdaw.chat({ query: 'x', agent })).body;
}

/** The names that a search finds. */
async function found(query: string, agent = 'all', limit?: number): Promise<string[]> {
  llm.reset();
  llm.always({ text: 'done' });
  await run(agent, ['find_tools', { query, ...(limit && { limit }) }]);
  const { tools } = JSON.parse(lastMessage()) as { tools: { name: string }[] };
  return tools.map(({ name }) => name);
}

describe('an agent with 300 tools of six MCP servers', () => {
  it('starts with at most 12 tools, finds the right one and calls it', async () => {
    expect(jackdaw.app.get(ToolRegistry).list()).toHaveLength(302);
    const body = await run('all', ['find_tools', { query: 'open a refund' }], ['billing__create_refund', { id: '7' }]);
    expect(body['result']).toBe('done');
    const [first, second, third] = llm.requests;
    expect(namesIn(first!)).toEqual(['calculator', 'get_timestamp', 'find_tools']);
    const { description } = first!.tools!.at(-1)!.function;
    expect(description).toContain(
      '299 more tools are not listed here: MCP server "billing" (49), MCP server "crm" (50), ',
    );
    expect(estimateTokens(JSON.stringify(first!.tools))).toBeLessThan(1_000);
    expect(namesIn(second!).slice(0, 3)).toEqual(namesIn(first!));
    expect(namesIn(second!).slice(3).toSorted()).toEqual(VERBS.map((verb) => `billing__${verb}_refund`));
    expect(JSON.stringify(third!.tools)).toBe(JSON.stringify(second!.tools));
    expect(third!.messages.at(-1)?.content).toBe('found it');
  });

  it('appends what later searches find, and nothing twice', async () => {
    await run(
      'all',
      ['find_tools', { query: 'create issue', limit: 1 }],
      ['find_tools', { query: 'create issue', limit: 2 }],
      ['find_tools', { query: '物流', limit: 1 }],
    );
    const lists = llm.requests.map(namesIn);
    expect(lists[1]!.slice(3)).toEqual(['tracker__create_issue']);
    expect(lists[2]).toHaveLength(5);
    expect(lists[2]!.slice(0, 4)).toEqual(lists[1]);
    expect(lists[3]!.slice(0, 5)).toEqual(lists[2]);
    expect(lists[3]!.at(-1)).toMatch(/^erp__op_4_/);
  });

  it.each([
    ['search sprints', 'tracker__search_sprint'],
    ['CREATE_ISSUE in the tracker', 'tracker__create_issue'],
    ['搜索物流', 'erp__op_4_3'],
    ['我要更新优惠券', 'erp__op_5_4'],
    ['crm__list_quote', 'crm__list_quote'],
  ])('finds "%s"', async (query, name) => {
    expect((await found(query))[0]).toBe(name);
  });

  it('finds at most ten tools, and nothing for other words', async () => {
    expect(await found('create', 'all', 10)).toHaveLength(10);
    expect(await found('create')).toHaveLength(5);
    expect(await found('zzz qqq')).toEqual([]);
    expect(lastMessage()).toContain('No tool matches');
  });

  it('answers a call of a deferred tool with the name of the search', async () => {
    await run('all', ['crm__list_quote', { id: '1' }]);
    expect(lastMessage()).toBe(
      'Error: The tool "crm__list_quote" is not loaded yet: call find_tools with its name first.',
    );
    expect(namesIn(llm.lastRequest)).toHaveLength(3);
  });

  it('does not find tools that its caller may not call, or that are disabled', async () => {
    expect(await found(`${ADMIN} delete invoice`)).not.toContain(ADMIN);
    await run('all', [ADMIN, { id: '1' }]);
    expect(lastMessage()).toMatch(/^Error: Denied: the security policy denies/);
    await jackdaw.post('/api/tools/crm__list_quote/disable');
    expect(await found('crm__list_quote')).not.toContain('crm__list_quote');
    await jackdaw.post('/api/tools/crm__list_quote/enable');
    expect(await found('crm__list_quote')).toContain('crm__list_quote');
  });

  it('applies approvals to found tools, and none to the search', async () => {
    const answer = await run(
      'careful',
      ['find_tools', { query: 'create issue' }],
      ['tracker__create_issue', { id: '1' }],
    );
    expect(answer).toMatchObject({ status: 'waiting', waiting: [{ kind: 'approval', tool: 'tracker__create_issue' }] });
    const runId = String(answer['run_id']);
    expect((await jackdaw.post(`/api/runs/${runId}/approve`, {})).status).toBe(202);
    await llm.waitForRequest(3);
    expect(llm.requests.map(namesIn)[2]).toEqual(namesIn(llm.requests[1]!));
    expect(lastMessage()).toBe('found it');
  });

  it.each([
    [
      'text',
      'Thought: x\nAction: find_tools\nAction Input: {"query": "search sprints"}',
      'Action: tracker__search_sprint\nAction Input: {"id": "1"}',
      'Final Answer: done',
    ],
    ['xml', invoke('find_tools', 'query', 'search sprints'), invoke('tracker__search_sprint', 'id', '1'), 'done'],
  ])('works in the protocol of the agent "%s"', async (agent, search, call, end) => {
    llm.reset();
    llm.reply({ text: search }, { text: call });
    llm.always({ text: end });
    const { body } = await jackdaw.chat({ query: 'x', agent });
    expect(body['result']).toBe('done');
    const systems = llm.requests.map(({ messages }) => String(messages[0]?.content));
    expect(systems.map((text) => text.includes('tracker__search_sprint'))).toEqual([false, true, true]);
    expect(systems[2]).toBe(systems[1]);
    expect(lastMessage()).toContain('found it');
  });

  it('never defers the tool of `toolChoice`', async () => {
    const name = 'files__list_quota';
    llm.reset();
    llm.reply({ calls: [{ name, arguments: { id: '1' } }] });
    llm.always({ text: 'done' });
    await jackdaw.chat({ query: 'x', agent: 'all', toolChoice: { name } });
    expect(namesIn(llm.requests[0]!)).toEqual([name, 'calculator', 'get_timestamp', 'find_tools']);
    expect(lastMessage()).toBe('found it');
  });

  it('starts the next run of a session with the tools that earlier ones called', async () => {
    llm.reply({ calls: [{ name: 'find_tools', arguments: { query: 'crm__list_quote', limit: 1 } }] });
    llm.reply({ calls: [{ name: 'crm__list_quote', arguments: { id: '1' } }] });
    await jackdaw.chat({ query: 'x', agent: 'all', sessionId: 's1' });
    await jackdaw.chat({ query: 'y', agent: 'all', sessionId: 's1' });
    expect(namesIn(llm.lastRequest)).toEqual(['crm__list_quote', 'calculator', 'get_timestamp', 'find_tools']);
  });

  it('finds a tool whose result is small', async () => {
    await run('tiny', ['find_tools', { query: 'create issue' }]);
    expect(namesIn(llm.lastRequest)).toEqual(['calculator', 'get_timestamp', 'find_tools', 'tracker__create_issue']);
  });
});

describe('the limits of an agent', () => {
  it('keep all tools up to the limit', async () => {
    await run('few');
    expect(namesIn(llm.lastRequest)).toHaveLength(10);
    await run('whole');
    expect(namesIn(llm.lastRequest)).toHaveLength(301);
    expect(namesIn(llm.lastRequest)).not.toContain('find_tools');
  });

  it('defer by number and by tokens', async () => {
    await run('small');
    expect(namesIn(llm.lastRequest)).toEqual(['find_tools']);
    await run('short');
    expect(namesIn(llm.lastRequest)).toEqual(['find_tools']);
  });

  it('defer the tools that the agent names last', async () => {
    await run('named');
    expect(namesIn(llm.lastRequest)).toEqual(['calculator', 'tracker__create_issue', 'find_tools']);
  });

  it('are shown with the agent', async () => {
    const { body } = await jackdaw.get('/api/agents/small');
    expect(body['limits']).toMatchObject({ max_tools: 4, max_tool_tokens: 100_000 });
    expect((await jackdaw.get('/api/agents/all')).body['limits']).toMatchObject({
      max_tools: 40,
      max_tool_tokens: 8_000,
    });
  });
});
