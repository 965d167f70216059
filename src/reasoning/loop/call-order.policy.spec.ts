import { describe, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { reasoningEngine } from '../../../test/support/reasoning-engine.js';
import { ALICE } from '../../../test/support/run-host.js';
import { calls, says, ScriptedChatModel } from '../../../test/support/scripted-chat-model.js';
import { MemoryRunContext } from '../../run/context/index.js';
import { type ToolEffect, type ToolRegistration, ToolRegistry } from '../../tool/index.js';
import type { ReasoningOutcome } from '../reasoning.types.js';

Logger.overrideLogger(false);
const engine = reasoningEngine();

/** Starts and ends of calls, in order. */
let story: string[] = [];

function registration(name: string, effect: ToolEffect, more: Partial<ToolRegistration> = {}): ToolRegistration {
  return {
    name,
    description: 'For a test.',
    effect,
    parameters: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
    resources: ({ id }: { id: string }) => {
      if (id === '?') throw new Error('which?');
      return [`order:${id}`];
    },
    handler: async ({ id }: { id: string }) => {
      story.push(`+${name} ${id}`);
      await new Promise((resolve) => setImmediate(resolve));
      story.push(`-${name} ${id}`);
      if (id === 'bad') throw new Error('bad');
    },
    ...more,
  };
}

async function play(wanted: readonly (readonly [string, string])[]): Promise<ReasoningOutcome> {
  story = [];
  const tools = new ToolRegistry();
  tools.register(registration('look', 'read'));
  tools.register(registration('change', 'idempotent'));
  tools.register(registration('ask', 'idempotent', { approval: 'always' }));
  tools.register(registration('free', 'idempotent', { resources: [] }));
  const model = new ScriptedChatModel([
    calls(...wanted.map(([name, id]) => [name, JSON.stringify({ id })] as [string, string])),
    says('done'),
  ]);
  return engine.run(
    {
      agent: null,
      instructions: '',
      history: [],
      input: { role: 'user', content: 'go' },
      model,
      protocol: 'native',
      tools: tools.list(),
      limits: { maxIterations: 3, maxResultBytes: 1000 },
      isStreaming: false,
    },
    new MemoryRunContext(ALICE),
  );
}

describe('calls of one reply', () => {
  it('are executed at once when they use different resources or only read', async () => {
    await play([
      ['change', 'a'],
      ['change', 'b'],
      ['look', 'c'],
      ['look', 'c'],
      ['free', 'a'],
    ]);
    expect(story.slice(0, 5)).toEqual(['+change a', '+change b', '+look c', '+look c', '+free a']);
  });

  it('are executed one after the other when one changes a resource of the other', async () => {
    await play([
      ['look', 'a'],
      ['change', 'a'],
      ['change', 'b'],
      ['look', 'a'],
      ['look', 'a'],
    ]);
    expect(story.indexOf('+change b')).toBe(1);
    expect(story.filter((line) => line.endsWith(' a'))).toEqual([
      '+look a',
      '-look a',
      '+change a',
      '-change a',
      '+look a',
      '+look a',
      '-look a',
      '-look a',
    ]);
  });

  it('continue after a call that failed', async () => {
    const outcome = await play([
      ['change', 'bad'],
      ['change', 'bad'],
    ]);
    expect(story).toEqual(['+change bad', '-change bad', '+change bad', '-change bad']);
    expect(outcome).toMatchObject({ kind: 'ended', finishReason: 'stop' });
  });

  it('are executed one after the other when a tool cannot name their resources', async () => {
    await play([
      ['change', '?'],
      ['change', '?'],
    ]);
    expect(story).toEqual(['+change ?', '-change ?', '+change ?', '-change ?']);
  });

  it('wait for an earlier call on the same resource that waits for a person', async () => {
    const outcome = await play([
      ['ask', 'a'],
      ['change', 'a'],
      ['change', 'b'],
    ]);
    expect(story).toEqual(['+change b', '-change b']);
    expect(outcome).toMatchObject({ kind: 'waiting', requests: [{ tool: 'ask' }] });
  });
});
