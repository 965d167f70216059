import { afterEach, describe, expect, it } from 'vitest';
import { AgentBuilder, createAgent, Extension, IterationLimitError, Tool, type RunEvent } from '../src/index.js';
import { AgentHost, NotingExtension } from './support/agent-host.js';
import { listed, scripted } from './support/mcp/scripted-servers.js';
import { calls, says, ScriptedChatModel } from './support/scripted-chat-model.js';
import { WaitingTools } from './support/waiting.tool.js';

const host = new AgentHost();
afterEach(() => host.stop());

const ping = { name: 'ping', description: 'Pings.', handler: () => 'pong' };

async function textsOf(pieces: AsyncIterable<string>): Promise<string[]> {
  const texts: string[] = [];
  for await (const piece of pieces) texts.push(piece);
  return texts;
}

describe('chat of an agent in code', () => {
  it('returns the answer with its usage', async () => {
    const agent = await host.start({}, [says('Fine.')]);
    expect(await agent.chat('How are you?')).toEqual({
      content: 'Fine.',
      role: 'assistant',
      finishReason: 'stop',
      isComplete: true,
      usage: { promptTokens: 10, completionTokens: 5, totalTokens: 15 },
      iterations: 1,
      runId: expect.any(String),
      sessionId: expect.any(String),
    });
  });

  describe('at the limit of iterations', () => {
    const limited = async (more: object = {}) => {
      const agent = await host.start({ limits: { maxIterations: 2 }, ...more }, [
        calls(['ping', {}]),
        { ...calls(['ping', {}]), message: { ...calls(['ping', {}]).message, content: 'Still working.' } },
      ]);
      return agent.registerTool(ping);
    };
    const reply = {
      content: 'Still working.',
      finishReason: 'iteration_limit',
      isComplete: false,
      toolResults: [
        { tool: 'ping', success: true, result: 'pong' },
        { tool: 'ping', success: false },
      ],
    };

    it('returns the last text with the results of the tools', async () => {
      expect(await (await limited()).chat('Ping?')).toMatchObject(reply);
    });

    it('throws an error with the reply if `onIterationLimit` is `throw`', async () => {
      const agent = await limited({ onIterationLimit: 'throw' });
      const error: unknown = await agent.chat('Ping?').catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(IterationLimitError);
      expect(error).toMatchObject({ code: 'ITERATION_LIMIT', reply });
    });

    it('ends a text stream with an error that has the reply', async () => {
      const pieces: string[] = [];
      const error: unknown = await (async () => {
        for await (const piece of (await limited()).chatStream('Ping?')) pieces.push(piece);
      })().catch((thrown: unknown) => thrown);
      expect(pieces.join('')).toBe('Still working.');
      expect(error).toMatchObject({ name: 'IterationLimitError', reply });
    });

    it('refuses another `onIterationLimit`', async () => {
      await expect(createAgent({ onIterationLimit: 'stop' as 'throw' })).rejects.toThrow(
        /onIterationLimit must be "answer" or "throw"/,
      );
    });
  });

  it('streams the text in pieces around tool calls', async () => {
    const agent = await host.start({}, [calls(['ping', {}]), says('The answer is pong.')]);
    const pieces = await textsOf(agent.registerTool(ping).chatStream('Ping?'));
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.join('')).toBe('The answer is pong.');
  });

  it('has the binary content of a tool result as a file of the run', async () => {
    const agent = await host.start({}, [calls(['bytes', {}]), says('Done.')]);
    const bytes = Buffer.from([0xff, 0, 1]);
    agent.registerTool({ name: 'bytes', description: 'Gives bytes.', handler: () => ({ bytes }) });
    const { runId } = await agent.chat('Bytes?');
    expect(await agent.file(runId, 1)).toEqual({ n: 1, mediaType: 'application/octet-stream', bytes });
    await expect(agent.file(runId, 2)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('publishes the run events in order', async () => {
    const agent = await host.start({}, [says('Fine.')]);
    const published: RunEvent['type'][] = [];
    await agent.stream('How are you?', ({ type }) => published.push(type));
    expect([published[0], published.at(-1)]).toEqual(['run.started', 'run.completed']);
    expect(published).toContain('message.delta');
  });

  it('ends a text stream with the error of its run', async () => {
    const agent = await host.start({}, [new Error('no model')]);
    await expect(textsOf(agent.chatStream('x'))).rejects.toMatchObject({ name: 'AppError', code: expect.any(String) });
  });

  it.each([[''], [' \n'], [undefined as unknown as string]])('refuses the message %j', async (message) => {
    const agent = await host.start({}, []);
    const refused = { code: 'VALIDATION_FAILED' };
    await expect(agent.chat(message)).rejects.toMatchObject(refused);
    await expect((async () => textsOf(agent.chatStream(message)))()).rejects.toMatchObject(refused);
    await expect(agent.stream(message, () => undefined)).rejects.toMatchObject(refused);
  });
});

describe('a conversation in code', () => {
  it('continues in its session until the session is deleted', async () => {
    const model = new ScriptedChatModel([says('Hello Ann.'), says('Ann.'), says('Yes.')]);
    const agent = await host.start({ chatModel: model });
    const session = await agent.createSession({ id: 'talk' });
    await session.chat('I am Ann.');
    expect((await textsOf(agent.session('talk').chatStream('Who am I?'))).join('')).toBe('Ann.');
    await session.stream('Sure?', () => undefined);
    expect(model.requests[1]?.messages).toMatchObject([
      { role: 'system' },
      { role: 'user', content: 'I am Ann.' },
      { role: 'assistant', content: 'Hello Ann.' },
      { role: 'user', content: 'Who am I?' },
    ]);
    expect([(await session.get()).id, (await session.turns()).length]).toEqual(['talk', 3]);
    await session.clear();
    expect(await session.turns()).toEqual([]);
    await session.delete();
    await expect(session.get()).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    await agent.createSession({ id: 'talk' });
    await expect(agent.createSession({ id: 'talk' })).rejects.toMatchObject({ code: 'SESSION_EXISTS' });
    expect(() => agent.session('')).toThrow(expect.objectContaining({ code: 'VALIDATION_FAILED' }));
  });
});

describe('the tools of an agent in code', () => {
  class Shop {
    @Tool({ description: 'The price.', effect: 'read' })
    price(): number {
      return 7;
    }
    @Tool({ description: 'Sells.' })
    sell(): string {
      return 'sold';
    }
  }

  it('are registered, found and called by name', async () => {
    const agent = await host.start({}, []);
    agent.registerTool(ping);
    expect(await agent.registerToolsFromClass(new Shop())).toEqual(['price', 'sell']);
    expect([agent.hasTool('ping'), agent.hasTool('price'), agent.hasTool('nothing')]).toEqual([true, true, false]);
    expect(agent.getTool('price').definition.description).toBe('The price.');
    expect([await agent.callTool('ping'), await agent.callTool('price', {})]).toEqual(['pong', 7]);
    expect(() => agent.getTool('pinf')).toThrow(expect.objectContaining({ code: 'TOOL_NOT_FOUND' }));
    await expect(agent.callTool('nothing')).rejects.toMatchObject({ code: 'TOOL_NOT_FOUND' });
    await expect(agent.callTool('')).rejects.toMatchObject({ code: 'TOOL_NOT_FOUND' });
    await expect(agent.callTool('ping', { of: 1 })).rejects.toMatchObject({ code: 'TOOL_INVALID_ARGUMENTS' });
  });

  it('can be methods of a class that Nest instantiates, registered all or not at all', async () => {
    const agent = await host.start({}, []);
    agent.registerTool({ ...ping, name: 'sell' });
    await expect(agent.registerToolsFromClass(Shop)).rejects.toMatchObject({ code: 'TOOL_DUPLICATE' });
    expect(agent.hasTool('price')).toBe(false);
    await expect(agent.registerToolsFromClass({})).rejects.toMatchObject({ code: 'TOOL_INVALID' });
    expect(() => agent.registerTool({ ...ping, name: '' })).toThrow(expect.objectContaining({ code: 'TOOL_INVALID' }));
  });

  it('can come from an MCP server that is connected later', async () => {
    const agent = await host.start({}, [calls(['files__echo', { text: 'hi' }]), says('done')]);
    const { stdio } = scripted('files', {
      tools: [listed('echo', { inputSchema: { type: 'object', properties: { text: { type: 'string' } } } })],
    });
    expect(agent.hasMcpServer('files')).toBe(false);
    await agent.connectMcpServer('files', stdio!);
    expect([agent.hasMcpServer('files'), agent.hasTool('files__echo')]).toEqual([true, true]);
    expect(await agent.callTool('files__echo', { text: 'hi' })).toBe('hi');
    const again = agent.connectMcpServer('files', stdio!);
    await expect(again).rejects.toMatchObject({ code: 'MCP_SERVER_DUPLICATE' });
    await expect(agent.connectMcpServer('', stdio!)).rejects.toMatchObject({ code: 'MCP_SERVER_INVALID' });
    await expect(agent.connectMcpServer('lost', { command: '/no/such' })).rejects.toMatchObject({
      code: 'NETWORK_ERROR',
    });
    expect(agent.hasMcpServer('lost')).toBe(false);
  });
});

describe('an agent in code whose run waits for a decision', () => {
  const pay = calls(['pay', { to: 'bob', amount: 5 }]);

  it('resumes after an approval or a denial and returns the answer', async () => {
    const tools = new WaitingTools();
    const agent = await host.start({ tools: [tools] }, [pay, says('Paid.'), pay, says('Not paid.')]);
    const { runId, waiting, isComplete } = await agent.chat('Pay Bob.');
    expect([isComplete, waiting]).toMatchObject([false, [{ kind: 'approval', tool: 'pay' }]]);
    expect(await agent.approve(runId)).toMatchObject({ content: 'Paid.', isComplete: true, runId });
    expect(tools.done).toEqual(['pay bob 5']);
    await expect(agent.approve(runId)).rejects.toMatchObject({ code: 'RUN_NOT_WAITING' });
    const { runId: other } = await agent.chat('Again.');
    expect(await agent.deny(other, { reason: 'No.' })).toMatchObject({ content: 'Not paid.', runId: other });
    expect(tools.done).toHaveLength(1);
  });

  it('resumes with the answer to a question, and a text stream reports the waiting request', async () => {
    const choose = calls(['choose', { text: 'Rome' }]);
    const agent = await host.start({ tools: [new WaitingTools()] }, [choose, says('Booked.')]);
    const failure = await textsOf(agent.chatStream('Fly me.')).then(
      () => ({}),
      (error: { code: string; details: { run_id: string } }) => error,
    );
    expect(failure).toMatchObject({ code: 'RUN_WAITING', details: { waiting: [{ kind: 'input' }] } });
    const { run_id } = (failure as { details: { run_id: string } }).details;
    await expect(agent.input(run_id, { value: 'XX9' })).rejects.toMatchObject({ code: 'VALIDATION_FAILED' });
    expect(await agent.input(run_id, { value: 'KL2' })).toMatchObject({ content: 'Booked.' });
    await expect(agent.settle(run_id, { outcome: 'retry' })).rejects.toMatchObject({ code: 'RUN_NOT_WAITING' });
  });
});

describe('an agent that cannot be created', () => {
  it.each([
    ['AGENT_INVALID', { prompt: ' ' }],
    ['AGENT_INVALID', { instructions: '' }],
    ['AGENT_INVALID', { systemPrompt: 'Be kind.' }],
    ['AGENT_INVALID', { prompt: 'a', instructions: 'b' }],
    ['AGENT_INVALID', { llm: { apiType: '' } }],
    ['AGENT_INVALID', { llm: { apiType: 'openai', apiKey: 'k', model: '' } }],
    ['AGENT_INVALID', { llm: { apiType: 'openai', apiKey: '' } }],
    ['AGENT_INVALID', { llm: { apiType: 'ollama' }, model: { name: 'x' } }],
    ['AGENT_INVALID', { llm: { apiType: 'ollama' }, chatModel: new ScriptedChatModel([]) }],
    ['CONFIG_INVALID', { llm: { apiType: 'unknown' } }],
    ['MCP_SERVER_INVALID', { mcp: { enabled: true, name: '' } }],
    ['MCP_SERVER_NOT_FOUND', { mcp: { enabled: true, name: 'unheard' } }],
  ])('is refused with %s for %j', async (code, options) => {
    await expect(createAgent({ config: host.environment(), ...options })).rejects.toMatchObject({ code });
  });

  it('is refused with the option name that was probably meant', async () => {
    const options: object = { env: host.environment(), instruction: 'Be kind.' };
    await expect(createAgent(options)).rejects.toThrow('unknown option "instruction": did you mean "instructions"?');
  });

  it('shuts down its started extensions and releases its database', async () => {
    const notes: string[] = [];
    class Broken extends Extension {
      readonly name = 'broken';
      readonly version = '1.0.0';
      override boot(): void {
        throw new Error('no answer');
      }
    }
    const env = host.environment();
    const extensions = [new NotingExtension('first', [], notes), new Broken()];
    await expect(createAgent({ config: env, extensions })).rejects.toMatchObject({ code: 'EXTENSION_INVALID' });
    expect(notes).toEqual(['register first', 'boot first', 'end first']);
    const agent = await host.start({ config: env }, [says('Fine.')]);
    expect((await agent.chat('x')).content).toBe('Fine.');
  });
});

it('applies the budgets and guardrails of its builder', async () => {
  const chatModel = new ScriptedChatModel([says('Never said.')]);
  const agent = await new AgentBuilder({ chatModel, config: host.environment() })
    .withBudgets({ run: { tokens: 5 } })
    .withGuardrails({ content: { cards: { input: 'mask' } } })
    .withApprovals('send_*')
    .withApprovals('pay')
    .build();
  expect(agent.getConfig()).toMatchObject({
    budgets: { run: { tokens: 5 } },
    guardrails: { content: { cards: { input: 'mask' } } },
    approvals: ['send_*', 'pay'],
  });
  await expect(agent.chat('How are you?')).rejects.toMatchObject({ code: 'BUDGET_EXCEEDED' });
  await agent.close();
});
