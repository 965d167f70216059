import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import {
  adaptStateful,
  createAgent,
  enhance,
  ToolRegistry,
  type ChatModel,
  type ChatStreamPart,
  type EnhancingTools,
  type Tool,
  type ToolRegistration,
} from '../src/index.js';
import { createModelRegistry } from '../src/llm/model-registry.factory.js';
import { ask, modelOf, textsOf, toRequest } from './support/enhanced-calls.js';
import { FakeLlm } from './support/fake-llm.js';
import { gate, newFolder } from './support/jackdaw.js';
import { says, ScriptedChatModel } from './support/scripted-chat-model.js';

Logger.overrideLogger(false);

const CALL = { calls: [{ name: 'act', arguments: {} }] };

let llm: FakeLlm;
let model: ChatModel;
const registry = createModelRegistry();
beforeAll(async () => {
  llm = await FakeLlm.start();
  model = modelOf(registry, llm);
});
afterEach(() => llm.reset());
afterAll(async () => {
  await registry.close();
  await llm.close();
});

function named(name: string, result: unknown = 1): ToolRegistration {
  return { name, description: 'Acts.', effect: 'read', handler: () => result };
}

function offered(at: number): string[] {
  return (llm.requests[at]?.tools ?? []).map((tool) => tool.function.name);
}

describe('the arguments of enhance()', () => {
  const tools = [named('act')];
  it.each<[string, unknown, unknown, unknown, string, RegExp]>([
    ['no model', {}, tools, {}, 'CONFIG_INVALID', /first argument is not a ChatModel/],
    ['no tools', null, [], {}, 'TOOL_INVALID', /no tools: give a list/],
    ['an empty registry', null, new ToolRegistry(), {}, 'TOOL_INVALID', /no tools: give a list/],
    ['an unknown server name', null, 'server', {}, 'MCP_SERVER_NOT_FOUND', /no MCP server "server"/],
    ['a number instead of tools', null, 7, {}, 'TOOL_INVALID', /these are not tools/],
    ['a list with a text', null, [...tools, 'act'], {}, 'TOOL_INVALID', /tool 2 of the list is invalid/],
    ['an incomplete tool', null, [{ definition: { name: 'x' } }], {}, 'TOOL_INVALID', /tool 1 of the list is invalid/],
    ['a tool without a description', null, [{ ...named('x'), description: '' }], {}, 'TOOL_INVALID', /no description/],
    ['two tools with the same name', null, [...tools, ...tools], {}, 'TOOL_DUPLICATE', /Two tools are named "act"/],
    ['a depth of 0', null, tools, { maxDepth: 0 }, 'CONFIG_INVALID', /maxDepth is 0/],
    ['an unknown protocol', null, tools, { protocol: 'yaml' }, 'CONFIG_INVALID', /no protocol "yaml"/],
    ['an unknown option', null, tools, { maxRounds: 2 }, 'CONFIG_INVALID', /unknown maxRounds \(known: maxDepth/],
  ])('are refused at once: %s', (_case, given, list, options, code, message) => {
    const make = () => enhance((given ?? model) as ChatModel, list as EnhancingTools, options as object);
    expect(make).toThrow(expect.objectContaining({ code, message: expect.stringMatching(message) }));
  });

  it('can be a registry, whose tools each request reads', async () => {
    const own = new ToolRegistry();
    own.register(named('act'));
    const enhanced = enhance(model, own);
    llm.always({ text: 'ok' });
    await ask(enhanced, 'generate', 'go');
    own.register(named('more'));
    await ask(enhanced, 'generate', 'go');
    own.unregister('act');
    await ask(enhanced, 'generate', 'go');
    expect([0, 1, 2].map(offered)).toEqual([['act'], ['act', 'more'], ['more']]);
  });

  it('can be an asynchronous function, which can return no tools', async () => {
    const own = new ToolRegistry();
    own.register(named('act', 'acted'));
    let list: unknown = own.list();
    const enhanced = enhance(model, async () => list as readonly Tool[]);
    llm.reply(CALL, { text: 'ok' }, { text: 'alone' });
    expect(await ask(enhanced, 'stream', 'go')).toMatchObject({ result: { message: { content: 'ok' } } });
    list = [];
    expect(await ask(enhanced, 'generate', 'go')).toMatchObject({ result: { message: { content: 'alone' } } });
    expect(offered(2)).toEqual([]);
    list = [...own.list(), ...own.list()];
    await expect(ask(enhanced, 'generate', 'go')).rejects.toMatchObject({ code: 'TOOL_DUPLICATE' });
    list = [named('act')];
    await expect(ask(enhanced, 'stream', 'go')).rejects.toMatchObject({ code: 'TOOL_INVALID' });
  });
});

describe('a request to an enhanced model', () => {
  it('must have no tools of its own and at least one message', async () => {
    const enhanced = enhance(model, [named('act')]);
    const tools = [{ name: 'other', description: 'Other.', inputSchema: { type: 'object' } }];
    const refused = [{ ...toRequest('go'), tools }, { messages: [] }];
    for (const request of refused)
      await expect(ask(enhanced, 'stream', request)).rejects.toMatchObject({ code: 'VALIDATION_FAILED' });
    const unknown = { ...toRequest('go'), toolChoice: { name: 'other' } };
    await expect(ask(enhanced, 'generate', unknown)).rejects.toMatchObject({ code: 'TOOL_NOT_FOUND' });
    expect(llm.requests).toHaveLength(0);
  });

  it('can require a tool or exclude all', async () => {
    const enhanced = enhance(model, [named('act')]);
    llm.reply(CALL, { text: 'ok' }, { text: 'alone' });
    await ask(enhanced, 'generate', { ...toRequest('go'), toolChoice: { name: 'act' } });
    expect(llm.requests.map((request) => request['tool_choice'] !== undefined)).toEqual([true, false]);
    await ask(enhanced, 'generate', { ...toRequest('go'), toolChoice: 'none' });
    expect(offered(2)).toEqual([]);
  });

  it('can consist of a system prompt alone', async () => {
    llm.reply({ text: 'ok' });
    await ask(enhance(model, [named('act')], { protocol: 'xml' }), 'generate', {
      messages: [{ role: 'system', content: 'Say ok.' }],
    });
    expect(llm.lastRequest.messages).toHaveLength(2);
  });
});

describe('the stream of an enhanced model', () => {
  it('aborts its tool calls when the reader leaves', async () => {
    const started = gate();
    const stopped = gate();
    const wait: ToolRegistration = {
      ...named('act'),
      handler: (_args: never, { signal }) => {
        started.open();
        signal.addEventListener('abort', () => stopped.open());
        return new Promise(() => undefined);
      },
    };
    llm.reply({ ...CALL, text: 'I look.' });
    for await (const part of enhance(model, [wait]).stream(toRequest('go'))) {
      expect(part.type).toBe('text');
      await started.opened;
      break;
    }
    await stopped.opened;
    expect(llm.requests).toHaveLength(1);
  });

  it('starts at its first read and continues while its reader is slow', async () => {
    llm.reply({ ...CALL, text: 'I look.' }, { text: 'It is done.' });
    const asked = enhance(model, [named('act')]).stream(toRequest('go'));
    const stream = asked[Symbol.asyncIterator]();
    expect(llm.requests).toHaveLength(0);
    const first = await stream.next();
    await llm.waitForRequest(2);
    const parts: ChatStreamPart[] = [first.value as ChatStreamPart];
    for (let next = await stream.next(); !next.done; next = await stream.next()) parts.push(next.value);
    expect(textsOf(parts)).toEqual(['I look.', 'It is done.']);
    expect(parts.at(-1)).toMatchObject({ type: 'finish' });
  });

  it('emits thoughts as they arrive, the last ones with the answer', async () => {
    llm.reply({ ...CALL, reasoning: 'A tool.' }, { text: 'Done.', reasoning: 'I know.' });
    const { parts, result } = await ask(enhance(model, [named('act')]), 'stream', 'go');
    const thoughts = parts.map((part) => (part.type === 'reasoning' ? part.text : part.type === 'restart' ? '|' : ''));
    expect(thoughts.join('')).toBe('A tool.|I know.');
    expect(result.message).toEqual({ role: 'assistant', content: 'Done.', reasoning: 'I know.' });
  });

  it('restarts when the model restarts', async () => {
    const faltering = new ScriptedChatModel([says('Right.')]);
    const original = faltering.stream.bind(faltering);
    faltering.stream = async function* (request, options) {
      yield { type: 'text', text: 'Wro' };
      yield { type: 'restart' };
      yield* original(request, options);
    };
    const { parts } = await ask(enhance(faltering, [named('act')]), 'stream', 'go');
    expect(textsOf(parts)).toEqual(['Wro', 'Right.']);
  });
});

describe('tools of an enhanced model', () => {
  it('have state for one model call alone if they are stateful', async () => {
    const disposed: number[] = [];
    let made = 0;
    const counter = adaptStateful<{ id: number; n: number }>({
      name: 'act',
      description: 'Counts.',
      create: () => ({ id: ++made, n: 0 }),
      call: (instance) => `${instance.id}:${++instance.n}`,
      dispose: ({ id }) => void disposed.push(id),
    });
    const enhanced = enhance(model, [counter]);
    for (let call = 1; call <= 2; call++) {
      llm.reply(CALL, CALL, { text: 'ok' });
      await ask(enhanced, 'generate', 'go');
      const results = llm.lastRequest.messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
      expect(results).toEqual([`${call}:1`, `${call}:2`]);
    }
    expect(disposed).toEqual([1, 2]);
  });

  it('also serve an agent whose own tools use a text protocol', async () => {
    const enhanced = enhance(model, [named('act', 'acted')]);
    const agent = await createAgent({ chatModel: enhanced, builtinTools: true, config: { DATA_DIR: newFolder() } });
    llm.reply(CALL, { text: 'Thought: now mine\nAction: calculator\nAction Input: {"expression": "6 * 7"}' });
    llm.reply({ text: 'Final Answer: 42 and acted' });
    expect(await agent.chat('go')).toMatchObject({ content: '42 and acted', isComplete: true });
    expect(JSON.stringify(llm.requests[1]!.messages)).toContain('acted');
    expect(JSON.stringify(llm.lastRequest.messages)).toContain('Observation: 42');
    await agent.close();
  });
});
