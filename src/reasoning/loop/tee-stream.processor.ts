import { AppError, Log } from '../../errors/index.js';
import { untilAborted } from '../../kernel/index.js';
import type { ChatResult } from '../../llm/chat/index.js';
import { type StepFacts, toRequestHash } from '../../run/index.js';
import { isTainted } from '../../run/facts/index.js';
import { addUsage, toRunUsage } from '../../run/usage/index.js';
import type { ContentFilter } from '../../security/content/index.js';
import type { SecurityPolicies } from '../../tool-policy/index.js';
import { toDecodedReply } from '../protocols/protocol.js';
import type { CacheOptions, Loop, ReplyListener } from '../reasoning.types.js';
import { emitContentDecision } from './screened-result.factory.js';
import { dropEarlierImages } from './ask-model.processor.js';
import { fitRefused } from './compact-context.executor.js';
import { Processor } from './processor.js';
import {
  continueReply,
  correct,
  isContinued,
  readReply,
  uselessReply,
  type ReplyFault,
} from './continue-or-finish.processor.js';
import { maskDecoded, type RecordedReply, type ScreenedReply, screenReply, ShownText } from './shown-text.builder.js';

/** Maximum retries within one iteration for replies that are empty or lack the required call. */
const MAX_RETRIES = 1;

/**
 * Calls the model in a step, publishes the visible text while it streams and passes the whole reply on. It retries a
 * reply that is empty or lacks the required call or format, in a step of its own. After tool results an empty reply is
 * the answer if the model has nothing to add.
 */
export class TeeStreamProcessor extends Processor {
  readonly name = 'tee-stream';
  private readonly logger = new Log(TeeStreamProcessor.name);

  /** @param preparation describes the tools again when a compaction adds one */
  constructor(
    private readonly policies: SecurityPolicies,
    private readonly preparation: Processor,
  ) {
    super();
  }

  async process(loop: Loop): Promise<void> {
    loop.corrections = [];
    for (let attempts = 0, useless = 0; ; attempts++) {
      const place = attempts === 0 ? String(loop.iteration) : `${loop.iteration}:r${attempts}`;
      const question = { place, isFresh: useless > 0 };
      const answer = await this.ask(loop, question);
      if (!answer) return;
      const { reply, fault } = answer;
      loop.reply = reply;
      loop.model = reply.model;
      if (reply.refusedImages) dropEarlierImages(loop);
      loop.acceptedMessages = loop.turn.length;
      if (reply.usage) loop.usage = addUsage(loop.usage, toRunUsage(reply.usage));
      if (!fault) return;
      if (fault.kind === 'format') correct(loop, fault);
      else if (fault.kind === 'unanswered') continueReply(loop);
      else if (++useless > MAX_RETRIES) throw uselessReply(loop, fault);
    }
  }

  /** @returns `null` if the call to continue an empty reply failed, and that reply is the answer */
  private async ask(loop: Loop, question: Question): Promise<ModelReply | null> {
    try {
      return await this.askFitting(loop, question);
    } catch (error) {
      const { run, iteration, reply, request } = loop;
      const mayBeEmpty = isContinued(loop) && request.responseFormat === undefined;
      if (!mayBeEmpty || run.signal.aborted || run.outlasts(error) || !mayEndEmpty(error)) throw error;
      this.logger.warn(
        { err: error, run_id: run.runId },
        'Request to continue an empty reply failed; the answer is empty',
      );
      loop.decoded = toDecodedReply('', '', []);
      // Discards text of the failed call.
      if (request.isStreaming) run.emit({ type: 'step.restarted', iteration, text: '' });
      const { finishReason: finish_reason } = reply!;
      // No step records this answer: a run that resumes after a crash asks again.
      run.emitWithEnd({ type: 'message.completed', iteration, text: '', finish_reason, tool_calls: [] });
      return null;
    }
  }

  /** Repeats a request that was too long for the model without old tool results. */
  private async askFitting(loop: Loop, question: Question): Promise<ModelReply> {
    const filter = this.policies.outputFilter(loop.request.rules, isTainted(loop.facts));
    try {
      return await ask(loop, question, filter);
    } catch (error) {
      if (!(await fitRefused(loop, error))) throw error;
    }
    // The replay finds one call.
    loop.modelCalls--;
    if (loop.protocol.describeTools(loop.request.tools) !== '') await this.preparation.process(loop);
    return ask(loop, question, filter);
  }
}

/** The tools may have had effects, so neither the model nor a budget fails the run. */
function mayEndEmpty(error: unknown): boolean {
  return error instanceof AppError && /^(?:MODEL|BUDGET)_/.test(error.code);
}

/** Place of a model call, and whether the cache must be bypassed. */
interface Question {
  readonly place: string;
  readonly isFresh: boolean;
}

/** A reply, with its fault if it cannot be used. */
interface ModelReply {
  readonly reply: ChatResult;
  readonly fault: ReplyFault | null;
}

async function ask(loop: Loop, { place, isFresh }: Question, filter: ContentFilter | null): Promise<ModelReply> {
  const { run, protocol, request } = loop;
  const step = { kind: 'model', place, subject: request.model.name } as const;
  const context = { tools: request.tools, iteration: loop.iteration };
  let fault: ReplyFault | null = null;
  const screen = filter && { filter, format: request.responseFormat };
  const decode = async (reply: RecordedReply): Promise<RecordedReply> => {
    const decoded = protocol.decode(reply, context);
    const masked = await maskDecoded(screen, decoded);
    const read = await readReply(loop, reply, masked, decoded.text);
    loop.decoded = masked;
    ({ fault, output: loop.output } = read);
    return read.verdict ? { ...reply, verdict: read.verdict } : reply;
  };
  /** A cache stores a reply only after the same checks that the run makes. */
  const accepts = async (candidate: ChatResult): Promise<boolean> => {
    const decoded = protocol.decode(candidate, context);
    if (screen && (await screenReply(screen, candidate, decoded)).kind === 'blocked') return false;
    const masked = await maskDecoded(screen, decoded);
    return !(await readReply(loop, candidate, masked, decoded.text)).fault;
  };
  loop.decoded = null;
  if (!run.isRecorded(step)) run.signal.throwIfAborted();
  loop.modelCalls++;
  const clock = new CallClock();
  const action = async () => {
    const shown = new ShownText(loop, filter);
    const given = await askModel(loop, { shown, clock, place }, { isFresh, accepts });
    const execution_time_ms = clock.elapsedMs;
    const screened = screen
      ? await untilAborted(screenReply(screen, given, protocol.decode(given, context)), run.signal)
      : asItCame(given);
    const { kind } = screened;
    const reply = await untilAborted(decode(screened.reply), run.signal);
    if (kind !== 'clean') emitContentDecision(loop, { on: 'output' }, screened);
    if (kind === 'blocked') shown.replaceBy(reply.message.content);
    else shown.end(loop.decoded!.text, reply);
    if (!fault) shown.release();
    publishUsage(loop, reply, { execution_time_ms, firstTokenMs: clock.firstTokenMs, isUsable: !fault });
    return reply;
  };
  const reply = await run.step(step, action, {
    isLast: () => loop.decoded!.calls.length === 0 && !fault,
    facts: () => clock.facts(),
    request: () => loop.requestOf!(place),
  });
  if (!loop.decoded) await decode(reply);
  return { reply, fault };
}

/** The times and the last request of one model call. */
class CallClock {
  /** Time to the first text, in ms. */
  firstTokenMs: number | undefined;
  /** The body of the last request to a provider, as JSON. */
  json: string | undefined;
  /** Requests to providers. */
  attempts = 1;
  private startedAt = 0;

  start(): void {
    this.startedAt = performance.now();
  }

  get elapsedMs(): number {
    return Math.round(performance.now() - this.startedAt);
  }

  noteText(): void {
    this.firstTokenMs ??= this.elapsedMs;
  }

  facts(): Omit<StepFacts, 'startedAt'> {
    const { firstTokenMs, attempts, json } = this;
    return { firstTokenMs, attempts, requestHash: json && toRequestHash(json) };
  }
}

interface ModelCall {
  readonly shown: ShownText;
  readonly clock: CallClock;
  readonly place: string;
}

function askModel(loop: Loop, { shown, clock, place }: ModelCall, cache: CacheOptions): Promise<ChatResult> {
  clock.start();
  return untilAborted(loop.ask!(toListener(loop, shown, clock), place, cache), loop.run.signal);
}

/** Delays reading until the run's start is published: events of the reply could not be published earlier. */
function toListener({ run }: Loop, shown: ShownText, clock: CallClock): ReplyListener {
  return {
    onText: (text) => {
      clock.noteText();
      shown.push(text);
      return run.started;
    },
    onRestart: () => shown.restart(),
    onRetry: () => void clock.attempts++,
    onRequest: (body, json = JSON.stringify(body)) => void (clock.json = json),
  };
}

function asItCame(reply: ChatResult): ScreenedReply {
  return { kind: 'clean', reply };
}

interface CallReport {
  readonly execution_time_ms: number;
  readonly firstTokenMs: number | undefined;
  /** False for a reply that is asked again. */
  readonly isUsable: boolean;
}

/** Publishes the events of the reply, in the batch that records it. */
function publishUsage(loop: Loop, reply: ChatResult, { execution_time_ms, firstTokenMs, isUsable }: CallReport): void {
  const { run, iteration } = loop;
  const { text, thought, calls } = loop.decoded!;
  if (reply.refusedImages) {
    const { sessionId: session_id } = run;
    run.emit({ type: 'history.repaired', session_id, turns: [], iteration, images: reply.refusedImages });
  }
  if (reply.isCached) run.emit({ type: 'model.cached', iteration, model: reply.model });
  for (const switched of reply.switches ?? []) run.emit({ type: 'model.switched', iteration, ...switched });
  if (thought !== '') run.emit({ type: 'thought', iteration, text: thought });
  if (isUsable) {
    run.emit({
      type: 'message.completed',
      iteration,
      text,
      finish_reason: reply.finishReason,
      tool_calls: calls.map((call) => ({ id: call.id, name: call.name, arguments: call.arguments })),
      execution_time_ms,
    });
  }
  if (!reply.usage) return;
  const first = firstTokenMs !== undefined && { first_token_ms: firstTokenMs };
  run.emit({ type: 'usage', iteration, model: reply.model, ...toRunUsage(reply.usage), execution_time_ms, ...first });
}
