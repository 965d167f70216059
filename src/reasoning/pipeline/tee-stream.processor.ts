import { untilAborted } from '../../common/index.js';
import type { ChatResult } from '../../llm/index.js';
import { addUsage, toRunUsage } from '../../run/index.js';
import type { ContentFilter } from '../../security/index.js';
import type { SecurityPolicies } from '../../tool/index.js';
import type { Loop, ReplyListener } from '../reasoning.types.js';
import { emitContentDecision } from './content-note.factory.js';
import { dropEarlierImages } from './image-repair.policy.js';
import { Processor } from './processor.js';
import { correct, readReply, uselessReply, type ReplyFault } from './reply-fault.policy.js';
import { maskDecoded, screenReply, type RecordedReply, type ScreenedReply } from './screened-reply.factory.js';
import { ShownText } from './shown-text.builder.js';

/** Maximum retries within one iteration for replies that are empty or lack the required call. */
const MAX_RETRIES = 1;

/**
 * Calls the model in a step, publishes the visible text while it streams and passes the whole reply on. It retries a
 * reply that is empty or lacks the required call or format, in a step of its own.
 */
export class TeeStreamProcessor extends Processor {
  readonly name = 'tee-stream';

  constructor(private readonly policies: SecurityPolicies) {
    super();
  }

  async process(loop: Loop): Promise<void> {
    loop.corrections = [];
    for (let asked = 0, useless = 0; ; asked++) {
      const place = asked === 0 ? String(loop.iteration) : `${loop.iteration}:r${asked}`;
      const { reply, fault } = await ask(
        loop,
        { place, isFresh: useless > 0 },
        this.policies.filter('output', loop.request.rules),
      );
      loop.reply = reply;
      loop.model = reply.model;
      if (reply.refusedImages) dropEarlierImages(loop);
      loop.acceptedMessages = loop.turn.length;
      if (reply.usage) loop.usage = addUsage(loop.usage, toRunUsage(reply.usage));
      if (!fault) return;
      if (fault.kind === 'format') correct(loop, fault);
      else if (++useless > MAX_RETRIES) throw uselessReply(loop, fault);
    }
  }
}

/** Place of a model call, and whether the cache must be bypassed. */
interface Question {
  readonly place: string;
  readonly isFresh: boolean;
}

/** A reply, with its fault if it cannot be used. */
interface AskedReply {
  readonly reply: ChatResult;
  readonly fault: ReplyFault | null;
}

async function ask(loop: Loop, { place, isFresh }: Question, filter: ContentFilter | null): Promise<AskedReply> {
  const { run, protocol, request } = loop;
  const step = { kind: 'model', place, subject: request.model.name } as const;
  const context = { tools: request.tools, iteration: loop.iteration };
  let fault: ReplyFault | null = null;
  const screen = filter && { filter, format: request.responseFormat };
  const decode = (reply: RecordedReply) => {
    const decoded = protocol.decode(reply, context);
    loop.decoded = maskDecoded(screen, decoded);
    ({ fault, output: loop.output } = readReply(loop, reply, loop.decoded, decoded.text));
  };
  /** A cache stores a reply only after the same checks that the run makes. */
  const accepts = (given: ChatResult): boolean => {
    const decoded = protocol.decode(given, context);
    if (screen && screenReply(screen, given, decoded).kind === 'blocked') return false;
    return !readReply(loop, given, maskDecoded(screen, decoded), decoded.text).fault;
  };
  loop.decoded = null;
  if (!run.isRecorded(step)) run.signal.throwIfAborted();
  loop.modelCalls++;
  const action = async () => {
    const shown = new ShownText(loop, filter);
    const given = await untilAborted(loop.ask!(toListener(loop, shown), place, { isFresh, accepts }), run.signal);
    const screened = screen ? screenReply(screen, given, protocol.decode(given, context)) : asItCame(given);
    const { kind, reply } = screened;
    if (kind !== 'clean') emitContentDecision(loop, { on: 'output' }, screened);
    decode(reply);
    if (kind === 'blocked') shown.replaceBy(reply.message.content);
    else shown.end(loop.decoded!.text);
    if (!fault) shown.release();
    tell(loop, reply, !fault);
    return reply;
  };
  const reply = await run.step(step, action, { isLast: () => loop.decoded!.calls.length === 0 && !fault });
  if (!loop.decoded) decode(reply);
  return { reply, fault };
}

/** Delays reading until the run's start is published: events of the reply could not be published earlier. */
function toListener({ run }: Loop, shown: ShownText): ReplyListener {
  return {
    onText: (text) => {
      shown.push(text);
      return run.begun;
    },
    onRestart: () => shown.restart(),
  };
}

function asItCame(reply: ChatResult): ScreenedReply {
  return { kind: 'clean', reply };
}

/** Publishes the events of the reply, in the batch that records it. */
function tell(loop: Loop, reply: ChatResult, isUsable: boolean): void {
  const { run, iteration } = loop;
  const { text, thought, calls } = loop.decoded!;
  if (reply.refusedImages) {
    const { sessionId: session_id } = run;
    run.emit({ type: 'history.repaired', session_id, turns: [], iteration, images: reply.refusedImages });
  }
  if (reply.isCached) run.emit({ type: 'model.cached', iteration, model: reply.model });
  for (const { from, to, code } of reply.switches ?? [])
    run.emit({ type: 'model.switched', iteration, from, to, code });
  if (thought !== '') run.emit({ type: 'thought', iteration, text: thought });
  if (isUsable) {
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
