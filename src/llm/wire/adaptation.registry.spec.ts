import { describe, expect, it } from 'vitest';
import type { ChatRequest, ChatResult, ToolSpec } from '../chat/chat.types.js';
import { createFittedRequest, toWireName, withOwnNames } from './adaptation.registry.js';

const LETTER_FIRST = /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/;
const tool = (name: string, inputSchema: ToolSpec['inputSchema'] = { type: 'object', properties: {} }): ToolSpec => ({
  name,
  description: 'Does it.',
  inputSchema,
});
const user = { role: 'user', content: 'x' } as const;
const asks = (tools: readonly ToolSpec[], more: Partial<ChatRequest> = {}): ChatRequest => ({
  messages: [user],
  tools,
  ...more,
});
const namesIn = ({ tools = [] }: ChatRequest): string[] => tools.map(({ name }) => name);

describe('toWireName', () => {
  it('keeps the names that the provider accepts', () => {
    expect(toWireName('add_2', LETTER_FIRST)).toBe('add_2');
    expect(toWireName('2add')).toBe('2add');
  });

  it('derives an accepted name from any other', () => {
    const names = ['2add', '_add', '-', '', 'a.b', 'a b', 'né', 'x'.repeat(65), '漢'.repeat(100)];
    const renamed = names.map((name) => toWireName(name, LETTER_FIRST));
    for (const name of renamed) expect(name).toMatch(LETTER_FIRST);
    expect(new Set(renamed).size).toBe(names.length);
    expect(renamed[0]).toMatch(/^t_2add_[0-9a-f]{10}$/);
  });

  it('renames a tool that has the derived name of another one', () => {
    const derived = toWireName('2add', LETTER_FIRST);
    const again = toWireName(derived, LETTER_FIRST);
    expect(again).not.toBe(derived);
    expect(again).toMatch(LETTER_FIRST);
  });
});

describe('createFittedRequest', () => {
  const rules = { name: LETTER_FIRST };

  it('names a tool the same with any other tools, in the history and in the choice', () => {
    const history: ChatRequest['messages'] = [
      user,
      { role: 'assistant', content: '', toolCalls: [{ id: 'a', name: '2add', arguments: '{}' }] },
      { role: 'tool', toolCallId: 'a', name: '2add', content: '3' },
    ];
    const wire = toWireName('2add', LETTER_FIRST);
    const tools = [tool('2add'), tool(wire)];
    const { request } = createFittedRequest(asks(tools, { messages: history, toolChoice: { name: '2add' } }), rules);
    expect(namesIn(request)).toEqual([wire, toWireName(wire, LETTER_FIRST)]);
    expect(request.toolChoice).toEqual({ name: wire });
    expect(request.messages.slice(1)).toMatchObject([{ toolCalls: [{ name: wire }] }, { name: wire }]);
    expect(namesIn(createFittedRequest(asks([tool('add'), tool('2add')]), rules).request)).toEqual(['add', wire]);
    expect(createFittedRequest({ messages: history }, rules).request.messages).toEqual(request.messages);
  });

  it('adds the own name of a renamed tool to its description, and caches by the array', () => {
    const tools = [tool('2add')];
    const [first, second] = [createFittedRequest(asks(tools), rules), createFittedRequest(asks(tools), rules)];
    expect(first.request.tools?.[0]?.description).toBe('Does it.\nIts own name: 2add');
    expect(second.request.tools).toBe(first.request.tools);
  });

  it('maps the calls of a reply back, and leaves other names as they are', () => {
    const fitted = createFittedRequest(asks([tool('2add')]), rules);
    const called = ['t_2add', toWireName('2add', LETTER_FIRST), 'other'];
    const toolCalls = called.map((name, id) => ({ id: String(id), name, arguments: '{}' }));
    const result: ChatResult = {
      message: { role: 'assistant', content: '', toolCalls },
      finishReason: 'tool_calls',
      model: 'm',
    };
    expect(withOwnNames(result, fitted).message.toolCalls?.map(({ name }) => name)).toEqual([
      't_2add',
      '2add',
      'other',
    ]);
  });

  it('omits a tool that cannot be expressed, and a choice of it', () => {
    let deep: Record<string, unknown> = { type: 'string' };
    for (let level = 0; level < 20_000; level++) deep = { type: 'array', items: deep };
    const bad = [tool('deep', { type: 'object', properties: { deep } }), tool('big', { type: 'object', default: 1n })];
    const { request, fitted } = createFittedRequest(
      asks([...bad, tool('good')], { toolChoice: { name: 'deep' } }),
      rules,
    );
    expect(namesIn(request)).toEqual(['good']);
    expect(request.toolChoice).toBeUndefined();
    expect(fitted?.omitted.map(({ tool: name }) => name)).toEqual(['deep', 'big']);
    expect(fitted?.omitted[0]?.reason).toBe('its schema is nested too deeply');
    const { request: none } = createFittedRequest(asks(bad, { toolChoice: 'required' }), rules);
    expect(none).toEqual({ messages: [user] });
  });
});
