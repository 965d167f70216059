import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ReplayWorld, SHIPPING } from './support/replay-world.js';

const world = ReplayWorld.prepare();

describe('a replay check of changed code', () => {
  it('shows a changed prompt, and masks secrets', async () => {
    const secret = 'sk-abcdefghijklmnopqrstuvwxyz123456';
    const check = await world.changed({ agent: { instructions: `You answer questions about orders. Use ${secret}.` } });
    expect(check).toMatchObject({
      status: 'diverged',
      divergence: {
        step: 'model:1',
        kind: 'request',
        changes: [{ expected: expect.stringContaining('Be brief.'), actual: expect.stringContaining('orders. Use ') }],
      },
    });
    expect(JSON.stringify(check)).not.toContain(secret);
  });

  it('shows changed, added and removed tools by their names, and changed parameters', async () => {
    const described = await world.changed({ ship: { description: 'Ships one order.' } });
    expect(described.divergence?.changes).toEqual([
      { path: 'tools.ship.description', expected: 'Ships an order.', actual: 'Ships one order.' },
    ]);
    const schema = await world.changed({
      ship: { parameters: z.object({ id: z.string(), limit: z.number().default(99) }) },
    });
    expect(schema.divergence).toMatchObject({ step: 'model:1', expected: '10', actual: '99' });
    const removed = await world.changed({ ship: null });
    expect(removed.divergence?.changes).toEqual([
      { path: 'tools.ship', expected: expect.stringContaining('Ships an order.') },
    ]);
    const longer = await world.changed({ agent: { model: { provider: 'openai', parameters: { maxTokens: 900 } } } });
    expect(longer.divergence?.changes).toEqual([{ path: 'max_output_tokens', expected: '300', actual: '900' }]);
  });

  it('detects a planted change in the handling of the arguments of a tool, which no request shows', async () => {
    const strict = z.object({ id: z.string().refine((id) => id.startsWith('order-')), limit: z.number().default(10) });
    expect((await world.changed({ ship: { parameters: strict } })).divergence).toMatchObject({
      step: 'tool:1:1',
      kind: 'call',
      expected: 'run',
      actual: expect.stringMatching(/^rejected \(TOOL_INVALID_ARGUMENTS: Invalid arguments/),
    });
    const mapped = z.object({ id: z.string().transform((id) => id.toUpperCase()), limit: z.number().default(10) });
    expect((await world.changed({ ship: { parameters: mapped } })).divergence).toEqual({
      step: 'tool:1:1',
      kind: 'call',
      expected: 'o-1',
      actual: 'O-1',
      changes: [{ path: 'arguments.id', expected: 'o-1', actual: 'O-1' }],
    });
  });

  it('detects another decision of the policy or of the approval rule', async () => {
    const policy = { arguments: { ship: ({ id }: { readonly id?: unknown }) => id !== 'o-1' || 'not o-1' } };
    expect((await world.changed({ policy })).divergence).toMatchObject({
      step: 'tool:1:1',
      kind: 'call',
      expected: 'run',
      actual: expect.stringMatching(/^rejected \(TOOL_DENIED: .*not o-1/),
    });
    expect((await world.changed({ ship: { approval: 'always' } })).divergence).toMatchObject({
      step: 'tool:1:1',
      kind: 'call',
      expected: 'run',
      actual: expect.stringMatching(/^approval/),
    });
  });

  it('detects a lower limit of iterations, another answer, and an agent that is gone', async () => {
    const limited = await world.changed({ agent: { limits: { maxIterations: 1 } } });
    expect(limited.divergence).toMatchObject({ step: 'tool:1:1', kind: 'call' });
    const renamed = await world.changed({ agent: { name: 'helpdesk' } });
    expect(renamed.divergence).toMatchObject({
      step: 'start',
      kind: 'agent',
      actual: expect.stringContaining('"support"'),
    });
    const tampered = async (change: (run: Record<string, unknown>) => void) => {
      world.llm.reply(...SHIPPING);
      const run = JSON.parse(await world.record()) as Record<string, unknown>;
      change(run);
      return world.checkAt(world.source, JSON.stringify(run));
    };
    const without = (name: string) => (run: Record<string, unknown>) =>
      void (run['steps'] = (run['steps'] as { name: string }[]).filter((step) => step.name !== name));
    expect((await tampered(without('tool:1:1'))).divergence).toMatchObject({ step: 'tool:1:1', kind: 'missing' });
    const unused = await tampered((run) => {
      const steps = run['steps'] as { name: string }[];
      steps.push({ ...steps.at(-1)!, name: 'model:3' });
    });
    expect(unused.divergence).toMatchObject({ step: 'model:3', kind: 'unused' });
    const result = await tampered((run) => {
      (run['events'] as { data: { result?: string } }[]).at(-1)!.data.result = 'Something else.';
    });
    expect(result.divergence).toMatchObject({
      step: 'end',
      kind: 'result',
      expected: expect.stringContaining('Something'),
    });
  });
});
