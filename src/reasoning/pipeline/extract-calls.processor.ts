import type { DecodedReply } from '../protocols/protocol.js';
import type { Loop } from '../reasoning.types.js';
import { asApproved } from './approved-call.mapper.js';
import { Processor } from './processor.js';

/**
 * Puts the reply's message, with the calls found in it, into the turn. A call that a person approved with other arguments
 * stands there as it is really made; what the model wrote stays in the journal.
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

function withEdits({ run, iteration }: Loop, decoded: DecodedReply): DecodedReply {
  const calls = decoded.calls.map((call, index) => asApproved(run, call, `${iteration}:${index + 1}`));
  if (calls.every((call, index) => call === decoded.calls[index])) return decoded;
  return { ...decoded, calls, message: { ...decoded.message, toolCalls: calls } };
}
