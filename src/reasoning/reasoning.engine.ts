import { Inject, Injectable } from '@nestjs/common';
import { type AppError, toAppError, Log } from '../errors/index.js';
import type { Message } from '../llm/chat/index.js';
import { isRelinquished, type RunContext } from '../run/context/index.js';
import { NO_USAGE, type RunFinishReason } from '../run/event/index.js';
import { mergeFacts } from '../run/facts/index.js';
import { CallRules, SecurityPolicies } from '../tool-policy/index.js';
import { ToolExecutor } from '../tool/index.js';
import { outcomeUnknown, withoutResult } from './loop/decided-result.factory.js';
import { fitContext, stateOf } from './loop/compact-context.executor.js';
import { byName, deferTools, pairResults } from './loop/format-results.processor.js';
import { dropUnacceptedImages, mayBeImageRefusal } from './loop/ask-model.processor.js';
import { ProcessorRegistry } from './loop/processor.registry.js';
import {
  createPipeline,
  type PlacedProcessor,
  PromptBuilder,
  ProtocolRegistry,
  withProcessor,
} from './loop/pipeline.js';
import type { Processor } from './loop/processor.js';
import { NO_REPLY_PLAN } from './loop/reply-plan.policy.js';
import { asCaller, factsOfDefinitions, readModelFacts } from './loop/data-facts.executor.js';
import { publishedResult } from './loop/published-result.mapper.js';
import type { Loop, LoopEnd, ReasoningOutcome, ReasoningRequest } from './reasoning.types.js';
import { withScripted } from './script/script-tool.factory.js';
import { toFailure } from './run-failure.mapper.js';

/**
 * The version of new runs, raised when a recorded run would no longer replay the same way. Version 2 keeps the model's
 * own call in the history after a person edited its arguments. It also shortens old turns instead of omitting them.
 * Version 3 counts the corrections of a structured answer within `maxIterations`. Version 4 accepts an empty answer after
 * tool results, and reads `<think>` as reasoning under native calling.
 */
export const LOOP_VERSION = 4;
/** The versions that this loop can replay. */
export const LOOP_VERSIONS: readonly number[] = [1, 2, 3, LOOP_VERSION];

type Ended = Extract<ReasoningOutcome, { kind: 'ended' }>;

/** The reasoning loop: calls the model and executes its tool calls, until it answers or reaches a limit. */
@Injectable()
export class ReasoningEngine {
  private readonly logger = new Log(ReasoningEngine.name);
  private pipeline: readonly Processor[];

  constructor(
    private readonly protocols: ProtocolRegistry,
    prompts: PromptBuilder,
    private readonly tools: ToolExecutor,
    processors: ProcessorRegistry,
    private readonly policies: SecurityPolicies,
    /** `null` outside of an application, which has no counts and no approvals. */
    @Inject(CallRules) rules: CallRules | null,
  ) {
    this.pipeline = createPipeline(prompts, { tools, policies, rules }, processors.placed);
  }

  /**
   * Adds a processor to the pipeline; an iteration in progress continues without it. @throws AppError `CONFIG_INVALID`
   */
  place(placed: PlacedProcessor): void {
    this.pipeline = withProcessor(this.pipeline, placed);
  }

  /**
   * Reasons until there is an outcome; failure, cancellation and timeout are outcomes too, with a consistent turn. It
   * rejects only if the run continues in another execution (`SHUTTING_DOWN`, `RUN_FENCED`, `JOURNAL_UNAVAILABLE`).
   */
  async run(request: ReasoningRequest, run: RunContext): Promise<ReasoningOutcome> {
    const loop = this.begin(request, run);
    let end: LoopEnd;
    try {
      await deferTools(loop);
      const { isCodeMode, tools } = loop.request;
      const facts = await factsOfDefinitions(run, isCodeMode ? withScripted(tools) : tools);
      loop.facts = mergeFacts(loop.facts, facts);
      end = await asCaller(loop, this.policies, () => this.iterate(loop));
    } catch (error) {
      return this.close(loop, error);
    }
    return end.kind === 'waiting' ? this.hold(loop, end) : ended(loop, end.finishReason);
  }

  private async iterate(loop: Loop): Promise<LoopEnd> {
    while (!loop.end) {
      loop.iteration++;
      await readModelFacts(loop);
      await fitContext(loop);
      for (const processor of this.pipeline) await processor.process(loop);
    }
    return loop.end;
  }

  private begin(request: ReasoningRequest, run: RunContext): Loop {
    return {
      request,
      version: request.loopVersion ?? LOOP_VERSION,
      protocol: this.protocols.get(request.protocol, request.loopVersion),
      run,
      tools: byName(request.tools),
      deferred: null,
      compaction: null,
      resultReader: null,
      describedTools: null,
      deniedTools: byName(request.deniedTools ?? []),
      facts: request.facts ?? [],
      reading: [],
      turn: [request.input],
      acceptedMessages: 0,
      areEarlierImagesRefused: false,
      maxImageBytes: this.tools.maxImageBytes,
      usage: NO_USAGE,
      iteration: 0,
      modelCalls: 0,
      model: request.model.name,
      instructions: '',
      ask: null,
      requestOf: null,
      corrections: [],
      repairs: 0,
      output: null,
      reply: null,
      decoded: null,
      replyPlan: NO_REPLY_PLAN,
      signal: run.signal,
      started: new Set(),
      results: new Map(),
      failed: new Set(),
      stateful: new Set(),
      childrenUsage: null,
      handedTo: null,
      waiting: new Map(),
      outage: null,
      end: null,
    };
  }

  /** An aborted run does not wait for a decision. */
  private hold(loop: Loop, waiting: Extract<ReasoningOutcome, { kind: 'waiting' }>): ReasoningOutcome {
    if (loop.run.signal.aborted) return this.close(loop, loop.run.signal.reason);
    return loop.outage ? { kind: 'postponed', outage: loop.outage } : waiting;
  }

  private close(loop: Loop, error: unknown): ReasoningOutcome {
    const { signal } = loop.run;
    if (isRelinquished(signal)) throw signal.reason;
    if (loop.run.outlasts(error)) return { kind: 'postponed', outage: error };
    const failure = toAppError(signal.aborted ? signal.reason : error);
    if (mayBeImageRefusal(failure)) dropUnacceptedImages(loop);
    this.settle(loop, failure);
    if (signal.aborted && failure.code === 'RUN_CANCELLED') return ended(loop, 'cancelled');
    const finishReason = signal.aborted && failure.code === 'RUN_TIMEOUT' ? 'timeout' : 'error';
    this.publishFailure(loop, failure);
    return { ...ended(loop, finishReason), failure: toFailure(failure) };
  }

  /** The message of an expected error is sufficient; an unexpected one is logged with its stack. */
  private publishFailure({ run }: Loop, failure: AppError): void {
    const { runId: run_id, sessionId: session_id } = run;
    if (failure.code === 'INTERNAL') this.logger.error({ err: failure.cause, run_id, session_id }, 'A run broke');
    else this.logger.warn({ run_id, session_id, code: failure.code }, `A run failed: ${failure.message}`);
  }

  /** Gives each call of the last reply without a result an error result. */
  private settle(loop: Loop, failure: AppError): void {
    if (!isOpen(loop)) return;
    pairResults(loop, (tool, index) => {
      const isUnknown = loop.waiting.get(index)?.some(({ kind }) => kind === 'outcome_unknown') === true;
      const result = isUnknown ? outcomeUnknown(tool) : withoutResult(tool, failure, loop.started.has(index));
      const call_id = loop.decoded!.calls[index]!.id;
      loop.run.emitWithEnd({ type: 'tool.completed', iteration: loop.iteration, call_id, ...publishedResult(result) });
      return result;
    });
  }
}

/** Whether the turn ends with a message whose calls have no results yet. */
function isOpen(loop: Loop): boolean {
  return loop.decoded !== null && loop.turn.at(-1) === loop.decoded.message;
}

function ended(loop: Loop, finishReason: RunFinishReason): Ended {
  const { usage, model, turn, modelCalls, childrenUsage, facts, reading, stateful, compaction } = loop;
  return {
    kind: 'ended',
    finishReason,
    iterations: modelCalls,
    usage,
    model,
    messages: turn,
    facts: mergeFacts(facts, reading),
    stateful,
    ...(childrenUsage && { childrenUsage }),
    ...(compaction && { compacted: stateOf(compaction) }),
    ...answer(loop, finishReason),
  };
}

function answer(
  { handedTo, decoded, output, turn }: Loop,
  finishReason: RunFinishReason,
): Pick<Ended, 'text' | 'output' | 'answeredBy'> & Partial<Pick<Ended, 'model'>> {
  if (handedTo && finishReason === handedTo.answer.finish_reason) {
    const { agent, finish_reason: _reason, ...given } = handedTo.answer;
    return { ...given, answeredBy: { agent, run_id: handedTo.run_id } };
  }
  if (finishReason !== 'stop') return { text: reached(turn) };
  return { text: decoded!.text, ...(output && { output: output.value }) };
}

/** The last text of the model, for a run that ended before its answer. */
function reached(turn: readonly Message[]): string {
  const message = turn.findLast(({ role, content }) => role === 'assistant' && content !== '');
  return message?.role === 'assistant' ? message.content : '';
}
