import { untilAborted } from '../../common/index.js';
import type { ChatResult } from '../../llm/index.js';
import type { RunContext } from '../../run/index.js';
import type { DecodedReply } from '../protocols/protocol.js';
import type { Loop } from '../reasoning.types.js';
import { Processor } from './processor.js';

/** Asks, in a step: what the user may read goes out as it comes, the whole reply goes on through the pipeline. */
export class TeeStreamProcessor extends Processor {
  readonly name = 'tee-stream';

  async process(loop: Loop): Promise<void> {
    const { run, iteration, protocol, request } = loop;
    const step = { kind: 'model', place: String(iteration), subject: request.model.name } as const;
    loop.decoded = null;
    if (!run.isRecorded(step)) run.signal.throwIfAborted();
    loop.modelCalls = iteration;
    const ask = async () => {
      const visible = protocol.decodeStream();
      const tellText = (text: string) => {
        if (text !== '' && !run.signal.aborted) run.emit({ type: 'message.delta', iteration, text });
      };
      const asking = loop.ask!((piece) => {
        tellText(visible.push(piece));
      });
      const reply = await untilAborted(asking, run.signal);
      tellText(visible.end());
      loop.decoded = protocol.decode(reply, { tools: request.tools, iteration });
      tell(run, iteration, reply, loop.decoded);
      return reply;
    };
    loop.reply = await run.step(step, ask, () => loop.decoded?.calls.length === 0);
  }
}

/** What the reply means to the world, in the batch that records it. */
function tell(run: RunContext, iteration: number, reply: ChatResult, { text, thought, calls }: DecodedReply): void {
  if (thought !== '') run.emit({ type: 'thought', iteration, text: thought });
  run.emit({
    type: 'message.completed',
    iteration,
    text,
    finish_reason: reply.finishReason,
    tool_calls: calls.map((call) => ({ id: call.id, name: call.name, arguments: call.arguments })),
  });
  if (!reply.usage) return;
  const { promptTokens, completionTokens, totalTokens } = reply.usage;
  run.emit({
    type: 'usage',
    iteration,
    model: reply.model,
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: totalTokens,
  });
}
