import { AppError, untilAborted } from '../../common/index.js';
import type { ChatResult } from '../../llm/index.js';
import { addUsage, toRunUsage } from '../../run/index.js';
import { isCut, type DecodedReply } from '../protocols/protocol.js';
import type { Loop } from '../reasoning.types.js';
import { describe, isCalled, wantedCall } from './call-choice.policy.js';
import { Processor } from './processor.js';

/** A reply that cannot be used is asked for again so often. */
const MAX_RETRIES = 1;

/**
 * Asks, in a step: what the user may read goes out as it comes, the whole reply goes on through the pipeline.
 * A reply that says nothing, or does not call what it must, is asked for once more, in a step of its own.
 */
export class TeeStreamProcessor extends Processor {
  readonly name = 'tee-stream';

  async process(loop: Loop): Promise<void> {
    for (let retry = 0; retry <= MAX_RETRIES; retry++) {
      const place = retry === 0 ? String(loop.iteration) : `${loop.iteration}:r${retry}`;
      const reply = await ask(loop, place);
      loop.reply = reply;
      loop.model = reply.model;
      if (reply.usage) loop.usage = addUsage(loop.usage, toRunUsage(reply.usage));
      if (isUsable(loop, reply)) return;
    }
    const { provider, name } = loop.request.model;
    const wanted = wantedCall(loop);
    const what =
      wanted && !isEmpty(loop.reply!, loop.decoded!) ? `did not call ${describe(wanted)}` : 'gave an empty reply';
    throw new AppError('MODEL_BAD_REPLY', `The model "${name}" of ${provider} ${what}, twice; try again.`, {
      isRetryable: true,
    });
  }
}

async function ask(loop: Loop, place: string): Promise<ChatResult> {
  const { run, iteration, protocol, request } = loop;
  const step = { kind: 'model', place, subject: request.model.name } as const;
  const decode = (reply: ChatResult) => (loop.decoded = protocol.decode(reply, { tools: request.tools, iteration }));
  loop.decoded = null;
  if (!run.isRecorded(step)) run.signal.throwIfAborted();
  loop.modelCalls++;
  const action = async () => {
    let visible = protocol.decodeStream();
    // What may have to be asked for again is not shown before it is there.
    const held: string[] | null = wantedCall(loop) ? [] : null;
    const tellText = (text: string) => {
      if (text !== '' && !run.signal.aborted) run.emit({ type: 'message.delta', iteration, text });
    };
    const show = (text: string) => void (held ? held.push(text) : tellText(text));
    const reply = await untilAborted(
      loop.ask!(
        {
          onText: (piece) => show(visible.push(piece)),
          onRestart: () => {
            visible = protocol.decodeStream();
            if (held) held.length = 0;
            else if (!run.signal.aborted) run.emit({ type: 'step.restarted', iteration, text: '' });
          },
        },
        place,
      ),
      run.signal,
    );
    show(visible.end());
    decode(reply);
    if (held && isUsable(loop, reply)) tellText(held.join(''));
    tell(loop, reply);
    return reply;
  };
  const reply = await run.step(step, action, (given) => loop.decoded!.calls.length === 0 && isUsable(loop, given));
  if (!loop.decoded) decode(reply);
  return reply;
}

/** Whether the loop can go on with the reply. */
function isUsable(loop: Loop, reply: ChatResult): boolean {
  return isCut(reply) || (!isEmpty(reply, loop.decoded!) && isCalled(loop));
}

/** Whether the reply ended properly and said nothing: neither text nor a call. */
function isEmpty(reply: ChatResult, { text, calls }: DecodedReply): boolean {
  return text.trim() === '' && calls.length === 0 && !isCut(reply);
}

/** What the reply means to the world, in the batch that records it. */
function tell(loop: Loop, reply: ChatResult): void {
  const { run, iteration } = loop;
  const { text, thought, calls } = loop.decoded!;
  if (reply.isCached) run.emit({ type: 'model.cached', iteration, model: reply.model });
  for (const { from, to, code } of reply.switches ?? [])
    run.emit({ type: 'model.switched', iteration, from, to, code });
  if (thought !== '') run.emit({ type: 'thought', iteration, text: thought });
  if (isUsable(loop, reply)) {
    run.emit({
      type: 'message.completed',
      iteration,
      text,
      finish_reason: reply.finishReason,
      tool_calls: calls.map((call) => ({ id: call.id, name: call.name, arguments: call.arguments })),
    });
  }
  if (reply.usage) run.emit({ type: 'usage', iteration, model: reply.model, ...toRunUsage(reply.usage) });
}
