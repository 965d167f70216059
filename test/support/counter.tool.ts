import { IsInt } from 'class-validator';
import { z } from 'zod';
import { ToolRegistry } from '../../src/tool/index.js';
import { Tool, type ToolContext, ToolState } from '../../src/tool/method/index.js';

export interface Counted {
  readonly count: number;
  readonly words?: readonly string[];
}

const BY = z.object({ by: z.number().optional() });
const INITIAL = { count: 0 };

class StepDto {
  @IsInt()
  by!: number;

  /** Not an argument of the model. */
  declare readonly memory?: Counted;

  next(): number {
    return this.memory!.count + this.by;
  }
}

/** Tools that store state in each of the possible ways. */
export class CounterTools {
  /** The input of each call. */
  readonly seen: unknown[] = [];

  @Tool({ description: 'Counts.', effect: 'read', stateful: { initial: INITIAL }, input: BY })
  count({ by = 1 }: z.infer<typeof BY>, @ToolState() state: ToolState<Counted>): number {
    this.seen.push(state.data);
    state.update(({ count }) => ({ count: count + by }));
    return state.data.count;
  }

  @Tool({ description: 'Adds the step and returns the count.', stateful: { initial: INITIAL }, input: BY })
  async tally({ by = 1 }: z.infer<typeof BY>, { state }: ToolContext): Promise<unknown> {
    const { count } = state!.data as unknown as Counted;
    return { was: count, state: { count: count + by } };
  }

  @Tool({ description: 'Counts by the state among its arguments.', stateful: true, stateInjection: true, input: BY })
  given({ by = 1, state }: z.infer<typeof BY> & { state: Partial<Counted> }): unknown {
    return { was: state.count ?? 0, state: { count: (state.count ?? 0) + by } };
  }

  @Tool({ description: 'The same.', stateful: { initial: INITIAL }, stateParameterName: 'memory' })
  named(step: StepDto, { callId }: ToolContext): unknown {
    return { was: step.memory!.count, next: step.next(), known: callId !== '', state: { count: step.next() } };
  }

  @Tool({ description: 'Counts, then breaks.', effect: 'read', stateful: true, input: z.object({ save: z.boolean() }) })
  breaking({ save }: { save: boolean }, @ToolState() state: ToolState<Partial<Counted>>): never {
    state.update({ count: (state.data.count ?? 0) + 1 });
    if (save) state.save();
    throw new Error('the other side is away');
  }

  @Tool({ description: 'Remembers for a run.', effect: 'read', stateful: { cleanupAfterRun: true }, input: BY })
  passing({ by = 1 }: z.infer<typeof BY>, @ToolState() state: ToolState<Partial<Counted>>): number {
    state.update({ count: (state.data.count ?? 0) + by });
    return state.data.count!;
  }

  @Tool({
    description: 'Fills.',
    effect: 'read',
    stateful: { maxStateBytes: 100 },
    input: z.object({ size: z.number() }),
  })
  fill({ size }: { size: number }, @ToolState() state: ToolState<{ text?: string }>): string {
    state.update({ text: 'x'.repeat(size) });
    return 'filled';
  }

  @Tool({
    description: 'Notes for the session; forgets it without words.',
    effect: 'read',
    stateful: true,
    input: z.object({ words: z.string(), ttlMs: z.number().optional() }),
  })
  note({ words, ttlMs }: { words: string; ttlMs?: number | undefined }, @ToolState() state: ToolState): unknown {
    const before = state.get('session');
    state.set('session', words === '' ? null : { words }, ttlMs);
    return before;
  }

  @Tool({ description: 'Keeps none.', effect: 'read', input: z.object({}) })
  stateless(_input: object, context: ToolContext): unknown {
    return { state: { stored: false }, has: context.state !== undefined };
  }
}

/** A function that is registered at run time, with its state among its arguments. */
export function registerCounter(registry: ToolRegistry): void {
  registry.register({
    name: 'registered',
    description: 'Counts by the state among its arguments.',
    effect: 'read',
    stateful: { initial: INITIAL },
    stateParameterName: 'memory',
    handler: ({ memory }: { memory: Counted }) => ({ was: memory.count, state: { count: memory.count + 1 } }),
  });
}
