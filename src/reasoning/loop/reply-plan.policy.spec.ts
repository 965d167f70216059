import { describe, expect, it } from 'vitest';
import { reasoningEngine } from '../../../test/support/reasoning-engine.js';
import { ALICE } from '../../../test/support/run-host.js';
import { calls, says, ScriptedChatModel } from '../../../test/support/scripted-chat-model.js';
import { MemoryRunContext, type StepName } from '../../run/context/index.js';
import { NO_USAGE } from '../../run/event/index.js';
import type { ChildCall, ChildStatus } from '../../run/tree/index.js';
import type { Tool } from '../../tool/method/index.js';

/** A run whose journal has steps of an earlier execution. Each child run answers with its id. */
class RecordedContext extends MemoryRunContext {
  readonly joined: string[] = [];

  constructor(private readonly recorded: Readonly<Record<string, unknown>>) {
    super(ALICE);
  }

  override async step<T>(name: StepName, action: () => Promise<T>): Promise<T> {
    return this.isRecorded(name) ? (this.recorded[this.nameOf(name)] as T) : action();
  }

  override isRecorded(...[name]: readonly Pick<StepName, 'kind' | 'place'>[]): boolean {
    return name !== undefined && Object.hasOwn(this.recorded, this.nameOf(name));
  }

  override async join({ id }: Partial<ChildCall> = {}): Promise<ChildStatus> {
    this.joined.push(String(id));
    const end = { run_id: String(id), result: `answer of ${id}`, is_complete: true, finish_reason: 'stop', model: 'm' };
    return {
      kind: 'ended',
      agent: String(id),
      durationMs: 1,
      end: { type: 'run.completed', usage: NO_USAGE, iterations: 1, ...end } as never,
    };
  }
}

function transfer(name: string): Tool {
  return {
    definition: { name: `transfer_to_${name}`, description: name, inputSchema: { type: 'object' } },
    metadata: { effect: 'idempotent', source: 'Test', egress: false, untrusted: false },
    validate: (value) => ({ valid: true, value }),
    invoke: () => 'never',
    child: { kind: 'agent', name, isHandoff: true },
  };
}

const child = (run_id: string) => ({ run_id, is_handoff: true });

describe('a recorded run whose reply has two hand-offs', () => {
  const engine = reasoningEngine();

  it.each<[string, Record<string, unknown>, string[]]>([
    ['joins both when both were started', { 'child:1:1': child('a'), 'child:1:2': child('b') }, ['a', 'b']],
    ['joins the first when only the first was started', { 'child:1:1': child('a') }, ['a']],
    ['joins the second when only the second was started', { 'child:1:2': child('b') }, ['b']],
  ])('%s', async (_name, recorded, joined) => {
    const run = new RecordedContext(recorded);
    const outcome = await engine.run(
      {
        agent: null,
        instructions: '',
        history: [],
        input: { role: 'user', content: 'go' },
        model: new ScriptedChatModel([calls(['transfer_to_a', {}], ['transfer_to_b', {}]), says('never')]),
        protocol: 'native',
        tools: [transfer('a'), transfer('b')],
        limits: { maxIterations: 4, maxResultBytes: 65_536 },
        isStreaming: false,
      },
      run,
    );
    expect(run.joined).toEqual(joined);
    expect(outcome).toMatchObject({ kind: 'ended', finishReason: 'stop', text: `answer of ${joined[0]}` });
    const results = run.events.filter(({ type }) => type === 'tool.completed');
    expect(results).toHaveLength(2);
  });
});
