import type { FinishReason } from '../../llm/index.js';
import type { RunFinishReason } from '../../run/index.js';
import type { Loop } from '../reasoning.types.js';
import { Processor } from './processor.js';

/** Decides whether the model is asked again. */
export class ContinueOrFinishProcessor extends Processor {
  readonly name = 'continue-or-finish';

  async process(loop: Loop): Promise<void> {
    if (loop.unknown.length > 0) loop.end = { kind: 'waiting', calls: loop.unknown };
    else if (loop.decoded!.calls.length === 0)
      loop.end = { kind: 'answered', finishReason: toRunReason(loop.reply!.finishReason) };
    else if (loop.iteration >= loop.request.limits.maxIterations)
      loop.end = { kind: 'answered', finishReason: 'iteration_limit' };
  }
}

function toRunReason(reason: FinishReason): RunFinishReason {
  switch (reason) {
    case 'length':
    case 'content_filter':
      return reason;
    case 'stop':
    case 'tool_calls':
      return 'stop';
  }
}
