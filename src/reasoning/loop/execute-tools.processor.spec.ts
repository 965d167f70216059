import { describe, expect, it } from 'vitest';
import { ForbiddenException, Logger } from '@nestjs/common';
import { reasoningEngine } from '../../../test/support/reasoning-engine.js';
import { ALICE } from '../../../test/support/run-host.js';
import { calls, says, ScriptedChatModel } from '../../../test/support/scripted-chat-model.js';
import { AppError } from '../../errors/index.js';
import { MemoryRunContext } from '../../run/context/index.js';
import type { RunEvent } from '../../run/event/index.js';
import { type ToolRegistration, ToolRegistry } from '../../tool/index.js';

Logger.overrideLogger(false);
const tick = () => new Promise((resolve) => setImmediate(resolve));

/** Records which calls were claimed. */
class ClaimingContext extends MemoryRunContext {
  readonly claimed: string[] = [];

  override async claim(place: string, announcement: RunEvent): Promise<'claimed' | 'unknown'> {
    this.claimed.push(place);
    return super.claim(place, announcement);
  }
}

/** A run whose reply calls a tool several times. The test decides when each call ends. */
function begin(more: Partial<ToolRegistration>, replies = [calls(['probe', { n: 1 }], ['probe', { n: 2 }])]) {
  const ends: (() => void)[] = [];
  const registry = new ToolRegistry();
  registry.register({
    name: 'probe',
    description: 'For a test.',
    parameters: { type: 'object', properties: { n: { type: 'integer' } } },
    handler: (args: object) =>
      new Promise((resolve) => ends.push(() => resolve(`result ${(args as { n: number }).n}`))),
    ...more,
  });
  registry.register({
    name: 'guarded',
    description: 'Is always denied.',
    handler: () => {
      throw new ForbiddenException('Not for you.');
    },
  });
  const stop = new AbortController();
  const run = new ClaimingContext(ALICE, stop.signal);
  const model = new ScriptedChatModel([...replies, says('done')]);
  const engine = reasoningEngine();
  const outcome = engine.run(
    {
      agent: null,
      instructions: '',
      history: [],
      input: { role: 'user', content: 'go' },
      model,
      protocol: 'native',
      tools: [...registry.list()],
      limits: { maxIterations: 4, maxResultBytes: 65_536 },
      isStreaming: false,
      waiting: { expiresMs: null, onDenied: 'end', onExpired: 'end' },
    },
    run,
  );
  const started = () => run.events.filter(({ type }) => type === 'tool.started').length;
  const results = () => run.events.flatMap((event) => (event.type === 'tool.completed' ? [event] : []));
  const untilStarted = async (count: number) => {
    while (ends.length < count) await tick();
  };
  return { ends, run, model, outcome, stop, started, results, untilStarted };
}

const QUEUES: [string, Partial<ToolRegistration>][] = [
  ['concurrency', { concurrency: 1 }],
  ['a shared resource', { resources: ['r'] }],
];

describe.each(QUEUES)('calls of one reply that wait for %s', (_name, queue) => {
  it('are announced and claimed when they start', async () => {
    const { ends, run, outcome, started, untilStarted, results } = begin(queue);
    await untilStarted(1);
    await tick();
    expect([started(), run.claimed]).toEqual([1, ['1:1']]);
    ends[0]!();
    await untilStarted(2);
    expect([started(), run.claimed]).toEqual([2, ['1:1', '1:2']]);
    ends[1]!();
    expect(await outcome).toMatchObject({ kind: 'ended', text: 'done' });
    expect(results()).toMatchObject([{ result: 'result 1' }, { result: 'result 2' }]);
  });

  it('are not executed after a cancel: the results distinguish them from the started call', async () => {
    const { ends, run, outcome, stop, untilStarted, results } = begin(queue);
    await untilStarted(1);
    stop.abort(new AppError('RUN_CANCELLED', 'The run was cancelled.'));
    expect(await outcome).toMatchObject({ kind: 'ended', finishReason: 'cancelled' });
    expect(results().map((result) => !result.success && result.error)).toEqual([
      'The call was cancelled before it finished. It may have taken effect all the same.',
      'Not executed: The run was cancelled.',
    ]);
    expect([run.claimed, ends.length]).toEqual([['1:1'], 1]);
  });

  it('leave no claim when the run moves to another process', async () => {
    const { run, outcome, stop, untilStarted } = begin(queue);
    await untilStarted(1);
    stop.abort(new AppError('SHUTTING_DOWN', 'The server shuts down.'));
    await expect(outcome).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
    expect(run.claimed).toEqual(['1:1']);
  });

  it('are not executed when their turn does not come in time, and may be repeated without a reminder', async () => {
    const again = calls(['probe', { n: 2 }]);
    const { ends, model, outcome, untilStarted, results } = begin({ ...queue, queueTimeoutMs: 5 }, [
      calls(['probe', { n: 1 }], ['probe', { n: 2 }]),
      again,
    ]);
    while (results().length < 1) await tick();
    expect(results()).toMatchObject([{ code: 'TOOL_TIMEOUT', error: expect.stringMatching(/^Not executed: /) }]);
    ends[0]!();
    await untilStarted(2);
    ends[1]!();
    await outcome;
    expect(results().at(-1)).toMatchObject({ success: true, result: 'result 2' });
    expect(JSON.stringify(model.requests)).not.toContain('You made the same call before');
  });
});

describe('the other calls of a reply whose denied call ends the run', () => {
  it('are stopped, or not executed, at once', async () => {
    const reply = calls(['probe', { n: 1 }], ['guarded', {}], ['probe', { n: 2 }]);
    const { ends, outcome, results } = begin({ concurrency: 1 }, [reply]);
    expect(await outcome).toMatchObject({ kind: 'ended', finishReason: 'error', failure: { code: 'TOOL_DENIED' } });
    expect(results().map((result) => !result.success && [result.tool, result.code])).toEqual(
      expect.arrayContaining([
        ['probe', 'TOOL_CANCELLED'],
        ['guarded', 'TOOL_DENIED'],
      ]),
    );
    expect(results()).toHaveLength(3);
    expect(ends).toHaveLength(1);
  });
});
