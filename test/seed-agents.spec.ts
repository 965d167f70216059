import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import {
  type Agent,
  AgentBuilder,
  createAgent,
  type CreateAgentOptions,
  DatabaseExtension,
  Extension,
  type ExtensionHost,
  Parameter,
  parseAgent,
  registerMcp,
  type RunEvent,
  Tool,
  unregisterMcp,
} from '../src/index.js';
import { AgentHost } from './support/agent-host.js';
import { FakeLlm } from './support/fake-llm.js';
import { everythingOverHttp } from './support/mcp/real-servers.js';

type Sqlite = new (path: string) => { exec(sql: string): void; close(): void };

/**
 * The requirements' own examples of use in code, written for Jackdaw; the first of them are in seed-examples.spec.ts.
 */
describe('the examples', () => {
  const host = new AgentHost();
  const agents: Agent[] = [];
  let llm: FakeLlm;
  let given: CreateAgentOptions;

  beforeAll(async () => {
    llm = await FakeLlm.start();
  });
  beforeEach(() => {
    llm.reset();
    const env = { DATA_DIR: host.environment().DATA_DIR, LLM_MAX_ATTEMPTS: '1', LLM_BREAKER_FAILURES: '0' };
    given = { llm: { apiType: 'openai', apiKey: 'sk-xxx', model: 'gpt-4', apiUrl: llm.url }, config: env };
  });
  afterEach(async () => {
    for (const agent of agents.splice(0)) await agent.close();
    await host.stop();
  });
  afterAll(() => llm.close());

  const start = async (options: CreateAgentOptions = {}): Promise<Agent> => {
    const agent = await createAgent({ ...given, ...options });
    agents.push(agent);
    return agent;
  };
  const namesOf = (at: number) => llm.requests[at]?.tools?.map((tool) => tool.function.name);

  it('run a database that an agent reads through an extension', async () => {
    const folder = host.environment().DATA_DIR;
    const file = join(folder, 'shop.db');
    const database = new (createRequire(import.meta.url)('better-sqlite3-v13') as Sqlite)(file);
    database.exec('CREATE TABLE orders (id INTEGER PRIMARY KEY, item TEXT)');
    database.exec("INSERT INTO orders VALUES (1, 'lamp'), (2, 'sofa')");
    database.close();
    const agent = await start();
    await agent.use(new DatabaseExtension({ dataSource: { type: 'better-sqlite3', database: file } }));
    llm.reply(
      { calls: [{ name: 'db_schema', arguments: {} }] },
      { calls: [{ name: 'db_query', arguments: { sql: 'SELECT count(*) AS n FROM orders' } }] },
      { text: 'Two orders.' },
    );
    expect(await agent.chat('How many orders are there?')).toMatchObject({ content: 'Two orders.', iterations: 3 });
    expect(namesOf(0)).toEqual(['db_schema', 'db_query']);
    expect(llm.requests[1]?.messages.at(-1)).toMatchObject({ role: 'tool', content: expect.stringContaining('item') });
    expect(llm.requests[2]?.messages.at(-1)).toMatchObject({ role: 'tool', content: expect.stringContaining('2') });
  });

  it('run a custom extension, which registers tools', async () => {
    class ShopExtension extends Extension {
      readonly name = 'shop';
      readonly version = '1.0.0';
      private host: ExtensionHost | undefined;
      override register(ours: ExtensionHost): void {
        this.host = ours;
      }
      override boot(): void {
        this.host?.registerTool({
          name: 'price',
          description: 'The price of a thing.',
          parameters: [Parameter.string('thing', 'Which', true).minLength(2), Parameter.integer('count').min(1)],
          handler: ({ thing, count = 1 }: { thing: string; count?: number }) => `${count} ${thing}: ${count * 7}`,
        });
      }
    }
    const agent = await start();
    await agent.use(new ShopExtension());
    expect(await agent.callTool('price', { thing: 'lamp', count: 2 })).toBe('2 lamp: 14');
    await expect(agent.callTool('price', { thing: 'x' })).rejects.toMatchObject({ code: 'TOOL_INVALID_ARGUMENTS' });
  });

  it('run tools of a class, a session, and a tool’s error that goes to the model', async () => {
    class Clock {
      @Tool({ name: 'get_time', description: 'The time.', effect: 'read' })
      time(): string {
        return '2024-01-01 12:00:00';
      }
      @Tool({ name: 'set_time', description: 'Sets the time.' })
      set(): string {
        throw new Error('not possible');
      }
    }
    const agent = await start();
    await agent.registerToolsFromClass(new Clock());
    const session = await agent.createSession({ id: 'talk' });
    llm.reply({ calls: [{ name: 'get_time', arguments: {} }] }, { text: 'It is noon.' });
    expect(await session.chat('What time is it?')).toMatchObject({ content: 'It is noon.', finishReason: 'stop' });
    llm.reply({ calls: [{ name: 'set_time', arguments: {} }] }, { text: 'I cannot.' });
    await agent.session('talk').chat('Make it one.');
    expect(llm.lastRequest.messages.at(-1)).toMatchObject({ role: 'tool', content: 'Error: not possible' });
    expect(llm.lastRequest.messages).toContainEqual({ role: 'user', content: 'What time is it?' });
  });

  it('run limits: an iteration limit, and a policy that denies tools', async () => {
    const agent = await start({ builtinTools: true, limits: { maxIterations: 2 } });
    llm.always({ calls: [{ name: 'calculator', arguments: { expression: '1 + 1' } }] });
    expect(await agent.chat('Continue.')).toMatchObject({ finishReason: 'iteration_limit', isComplete: false });
    await agent.setSecurityPolicy({ tools: [{ deny: ['calculator'] }] });
    await expect(agent.callTool('calculator', { expression: '1 + 1' })).rejects.toMatchObject({ code: 'TOOL_DENIED' });
  });

  it('run a custom logger and custom telemetry', async () => {
    const lines: unknown[][] = [];
    const published: RunEvent['type'][] = [];
    const log = (...line: unknown[]) => void lines.push(line);
    const agent = await start({
      logger: { log, error: log, warn: log, debug: log },
      telemetry: ({ event }) => published.push(event.type),
    });
    agent.registerTool({ name: 'ping', description: 'Pings.', handler: () => 'pong' });
    llm.reply({ calls: [{ name: 'ping', arguments: {} }] }, { text: 'Pong.' });
    const { runId } = await agent.chat('Ping?');
    expect(runId).toEqual(expect.any(String));
    await agent.close();
    agents.length = 0;
    expect(published).toEqual(expect.arrayContaining(['run.started', 'usage', 'tool.started', 'tool.completed']));
    expect(published.at(-1)).toBe('run.completed');
    // Jackdaw's own lines: the model calls and the tool call.
    expect(lines.length).toBeGreaterThan(2);
    expect(JSON.stringify(lines)).toContain('"ping"');
  });

  it('run an agent from an XML file that has a server’s tools, over HTTP', async () => {
    const server = await everythingOverHttp();
    registerMcp({ name: 'research-tools', enabled: true, type: 'http', http: { url: server.url } });
    try {
      const xml = `<agent name="researcher">
        <llm api-type="openai" model="gpt-4o" temperature="0.2"/>
        <prompt>You research.</prompt>
      </agent>`;
      const agent = await start({
        llm: undefined,
        agent: parseAgent(xml),
        mcp: { enabled: true, name: 'research-tools' },
        config: { ...given.config, ...llm.env, OUTGOING_ALLOW: '127.0.0.1' },
      });
      llm.reply({ calls: [{ name: 'research-tools__echo', arguments: { message: '涨' } }] }, { text: '上涨。' });
      expect((await agent.chat('分析过去一年的比特币价格趋势并给出未来预测')).content).toBe('上涨。');
      expect(llm.lastRequest).toMatchObject({ model: 'gpt-4o', temperature: 0.2 });
      expect(llm.lastRequest.messages.at(-1)?.content).toContain('Echo: 涨');
      expect(agent.getConfig()).toMatchObject({ name: 'researcher', instructions: 'You research.' });
    } finally {
      await unregisterMcp('research-tools');
      await server.stop();
    }
  });

  it('run the same without the file, and refuse it beside another description', async () => {
    const agent = parseAgent('<agent name="a"><llm api-type="offline"/><prompt>You help.</prompt></agent>');
    const { config = {} } = given;
    const built = await new AgentBuilder({ config })
      .withAgent(agent)
      .withTelemetry(() => undefined)
      .build();
    agents.push(built);
    expect(built.getConfig().name).toBe('a');
    const twice = createAgent({ agent, prompt: 'You do not.', config: host.environment() });
    await expect(twice).rejects.toMatchObject({ code: 'AGENT_INVALID', message: expect.stringContaining('prompt') });
  });
});
