import type { DecodedReply } from '../protocols/protocol.js';
import type { Loop } from '../reasoning.types.js';
import { asApproved } from './approved-call.mapper.js';
import { Processor } from './processor.js';

/**
 * Appends the reply's message, with its calls, to the turn. If a person edited a call, the turn has the model's
 * arguments; the executed call has the edited ones.
 */
export class ExtractCallsProcessor extends Processor {
  readonly name = 'extract-calls';

  async process(loop: Loop): Promise<void> {
    loop.decoded = withEdits(loop, loop.decoded!);
    loop.turn.push(loop.decoded.message);
    loop.results = new Map();
    loop.waiting = new Map();
  }
}

function withEdits({ run, iteration, version }: Loop, decoded: DecodedReply): DecodedReply {
  const calls = decoded.calls.map((call, index) => asApproved(run, call, `${iteration}:${index + 1}`));
  if (calls.every((call, index) => call === decoded.calls[index])) return decoded;
  // In version 1 the edited call replaced the model's call.
  return version === 1
    ? { ...decoded, calls, message: { ...decoded.message, toolCalls: calls } }
    : { ...decoded, calls };
}
