import type { WaitingRequest } from '../../run/index.js';
import type { Loop } from '../reasoning.types.js';
import { callKey, type CallExecutor } from './call.executor.js';
import { Processor } from './processor.js';

/**
 * Carries out the calls of one reply, all at once; their results keep the order of the calls. Those that wait for a
 * person hold up no other.
 */
export class ExecuteToolsProcessor extends Processor {
  readonly name = 'execute-tools';

  constructor(private readonly calls: CallExecutor) {
    super();
  }

  async process(loop: Loop): Promise<void> {
    const waiting = new Map<number, WaitingRequest>();
    const settled = await Promise.allSettled(
      loop.decoded!.calls.map(async (call, index) => {
        const done = await this.calls.execute(loop, call, index + 1);
        if (done.kind === 'result') loop.results.set(index, done.result);
        else waiting.set(index, done.request);
      }),
    );
    loop.waiting = waiting;
    for (const [index, call] of loop.decoded!.calls.entries()) {
      if (loop.results.get(index)?.success === false) loop.failed.add(callKey(call));
    }
    const failure = settled.find((one) => one.status === 'rejected');
    if (failure) throw failure.reason;
  }
}
