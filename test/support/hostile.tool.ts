import { suspend, type Suspension, UnknownOutcome } from '../../src/tool/index.js';
import { Tool, type ToolContext, ToolState } from '../../src/tool/method/index.js';

const ANYTHING = { type: 'object', properties: { value: {} } };

/** Tools that accept and return any JSON; some of them wait for people. */
export class HostileTools {
  @Tool({
    description: 'Returns its input.',
    effect: 'read',
    input: { ...ANYTHING, required: ['value'] },
    output: ANYTHING,
  })
  echo(input: { value: unknown }): unknown {
    return input;
  }

  @Tool({ description: 'Returns its input after approval.', approval: 'always', input: ANYTHING, output: ANYTHING })
  guarded(input: { value?: unknown }): unknown {
    return input;
  }

  @Tool({ description: 'Returns the answer of the user.', effect: 'read', input: ANYTHING })
  ask(_input: object, { answer }: ToolContext): Suspension | { value: unknown } {
    return answer ? { value: answer.value } : suspend({ question: 'What?' });
  }

  @Tool({ description: 'Counts.', effect: 'read', stateful: { initial: { count: 0 } }, input: ANYTHING })
  count(_input: object, @ToolState() state: ToolState<{ count: number }>): number {
    state.update(({ count }) => ({ count: count + 1 }));
    return state.data.count;
  }

  @Tool({ description: 'Never knows its outcome.', input: ANYTHING })
  unsure(): UnknownOutcome {
    return new UnknownOutcome('the line went dead');
  }
}
