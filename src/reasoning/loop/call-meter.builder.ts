import type { CallAccount, Usage } from '../../llm/chat/index.js';
import { NO_USAGE, type RunUsage, type UsageReported } from '../../run/event/index.js';
import { type DataFact, mergeFacts } from '../../run/facts/index.js';
import { addUsage, toAccount, toRunUsage, type ModelMeter } from '../../run/usage/index.js';
import type { PlacedCall } from './waiting-request.factory.js';

/** Usage of the models that the tool of one call invoked, and the facts of the stored data that it read. */
export class CallMeter implements ModelMeter {
  private calls = 0;
  private readonly used: UsageReported[] = [];
  private total: RunUsage | undefined;
  learned: readonly DataFact[] = [];

  constructor(private readonly placed: PlacedCall) {}

  next(): CallAccount {
    const { loop, place } = this.placed;
    const step = `${loop.run.nameOf({ kind: 'tool', place })}:model:${++this.calls}`;
    return toAccount(loop.run, step, loop.request.budgets);
  }

  count(model: string, usage: Usage): void {
    const { loop, call } = this.placed;
    const counted = toRunUsage(usage);
    this.used.push({ type: 'usage', iteration: loop.iteration, call_id: call.id, model, ...counted });
    this.add(counted);
  }

  /** Adds usage that other steps of the call have published. */
  add(usage: RunUsage): void {
    this.total = addUsage(this.total ?? NO_USAGE, usage);
  }

  readonly learn = (facts: readonly DataFact[]): void => {
    this.learned = mergeFacts(this.learned, facts);
  };

  /** Emits the usage in the step that records the call. @returns the total, if there is any */
  spent(): { readonly usage?: RunUsage } {
    for (const event of this.used) this.placed.loop.run.emit(event);
    return this.total ? { usage: this.total } : {};
  }
}
