import type { DecodedReply } from '../protocols/protocol.js';
import type { Loop } from '../reasoning.types.js';
import { Processor } from './processor.js';
import { requestId } from './waiting-request.factory.js';

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
  const calls = decoded.calls.map((call, index) => {
    const decision = run.answer(requestId('approval', `${iteration}:${index + 1}`));
    const edited = decision?.kind === 'approve' ? decision.arguments : undefined;
    return edited === undefined ? call : { ...call, arguments: edited };
  });
  if (calls.every((call, index) => call === decoded.calls[index])) return decoded;
  return { ...decoded, calls, message: { ...decoded.message, toolCalls: calls } };
}
