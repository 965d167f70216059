import type { DecodedReply } from '../protocols/protocol.js';
import type { Loop } from '../reasoning.types.js';
import { asApproved } from './approved-call.mapper.js';
import { Processor } from './processor.js';

/**
 * Puts the reply's message, with the calls found in it, into the turn. Of a call that a person edited, the turn has what
 * the model wrote; the call is executed with the person's arguments.
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
  // Version 1 put the edited call in the place of the model's.
  return version === 1
    ? { ...decoded, calls, message: { ...decoded.message, toolCalls: calls } }
    : { ...decoded, calls };
}
