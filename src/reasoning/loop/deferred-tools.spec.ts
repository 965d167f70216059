import { describe, expect, it } from 'vitest';
import { reasonIn } from '../../../test/support/reasoned-run.js';
import { ALICE } from '../../../test/support/run-host.js';
import { calls, says, type Scripted, ScriptedChatModel } from '../../../test/support/scripted-chat-model.js';
import { MemoryRunContext } from '../../run/context/index.js';
import type { ToolMetadata } from '../../tool/index.js';
import type { Tool } from '../../tool/method/index.js';
import type { ReasoningRequest } from '../reasoning.types.js';

const LIMITS = { maxIterations: 10, maxResultBytes: 1000, maxTools: 2, maxToolTokens: 1000 };

function tool(name: string, metadata: Partial<ToolMetadata> = {}, more: Partial<Tool> = {}): Tool {
  return {
    definition: { name, description: `Does ${name}.`, inputSchema: { type: 'object' } },
    metadata: { effect: 'read', source: 'test', egress: false, untrusted: false, private: false, ...metadata },
    validate: (value) => ({ valid: true, value }),
    invoke: () => `did ${name}`,
    ...more,
  };
}

/** Runs the loop. @returns its outcome, and the names of the tools in each request */
async function play(
  request: Partial<ReasoningRequest> & Pick<ReasoningRequest, 'tools'>,
  script: readonly Scripted[] = [],
  run = new MemoryRunContext(ALICE),
) {
  const model = new ScriptedChatModel([...script, says('done')]);
  const outcome = await reasonIn(run, { limits: LIMITS, ...request, model });
  return { outcome, lists: model.requests.map(({ tools = [] }) => tools.map(({ name }) => name)) };
}

/** An execution of a run that an earlier version, or one without deferred tools, has started. */
class StartedRun extends MemoryRunContext {
  override isRecorded(name?: { readonly kind: string; readonly place: string }): boolean {
    return name?.kind === 'model' && name.place === '1' && this.events.length === 0;
  }
}

describe('deferred tools', () => {
  const FOUR = ['one', 'two', 'three', 'four'].map((name) => tool(name));

  it('begin with those that the agent names, and agents, then those of the application', async () => {
    const origin = { name: 'MCP server "x"', hosts: [], isReadOnly: true };
    const tools = [tool('x__a', { origin }), ...FOUR, tool('x__b', { origin })];
    const child = tool('ask_poet', {}, { child: { kind: 'agent', name: 'poet', isHandoff: false } });
    const limits = { ...LIMITS, maxTools: 4 };
    const first = async (request: Partial<ReasoningRequest>) => (await play({ tools, limits, ...request })).lists[0];
    expect(await first({})).toEqual(['one', 'two', 'three', 'find_tools']);
    expect(await first({ namedTools: ['x__b'] })).toEqual(['x__b', 'one', 'two', 'find_tools']);
    expect(await first({ tools: [...tools, child] })).toEqual(['ask_poet', 'one', 'two', 'find_tools']);
    const history = [{ role: 'tool' as const, toolCallId: 'c', name: 'x__a', content: '' }];
    expect(await first({ history })).toEqual(['x__a', 'one', 'two', 'find_tools']);
    expect(await first({ tools: tools.slice(0, 4) })).toEqual(['x__a', 'one', 'two', 'three']);
  });

  it('taint a run by untrusted descriptions only after a search has found them', async () => {
    const foreign = tool('foreign', { untrustedDefinition: true });
    const factsOf = async (query: string) => {
      const search = calls(['find_tools', { query, limit: 1 }]);
      const { outcome } = await play({ tools: [...FOUR, foreign] }, [search]);
      return outcome.kind === 'ended' ? outcome.facts : null;
    };
    expect(await factsOf('four')).toEqual([]);
    expect(await factsOf('foreign')).toEqual([{ fact: 'untrusted', step: 'definitions', tool: 'foreign' }]);
  });

  it('are found by another name if the application has a tool of that name', async () => {
    const search = calls(['find_deferred_tools', { query: 'three', limit: 1 }]);
    const { lists } = await play({ tools: [tool('find_tools'), ...FOUR] }, [search]);
    expect(lists).toEqual([
      ['find_tools', 'find_deferred_tools'],
      ['find_tools', 'find_deferred_tools', 'three'],
    ]);
  });

  it('are found for a call in the same reply only afterwards', async () => {
    const both = calls(['find_tools', { query: 'three' }], ['three', {}]);
    const { outcome } = await play({ tools: FOUR }, [both, calls(['three', {}])]);
    const results = outcome.kind === 'ended' ? outcome.messages.filter(({ role }) => role === 'tool') : [];
    expect(results.slice(1).map(({ content }) => content)).toEqual([
      'Error: The tool "three" is not loaded yet: call find_tools with its name first.',
      'did three',
    ]);
  });

  it('do not exist in a run that has started with all its tools', async () => {
    expect((await play({ tools: FOUR }, [], new StartedRun(ALICE))).lists).toEqual([['one', 'two', 'three', 'four']]);
  });

  it('do not exist without limits', async () => {
    const limits = { maxIterations: 10, maxResultBytes: 1000 };
    expect((await play({ tools: FOUR, limits })).lists).toEqual([['one', 'two', 'three', 'four']]);
  });
});
