import { Injectable } from '@nestjs/common';
import { toAppError, Log } from '../errors/index.js';
import type { ToolCall } from '../llm/chat/index.js';
import type { Postponed } from '../run/index.js';
import { isRelinquished, type RunContext } from '../run/context/index.js';
import type { WaitingRequest } from '../run/decision/index.js';
import type { RunFailure, RunUsage } from '../run/event/index.js';
import { type DataFact, mergeFacts } from '../run/facts/index.js';
import { CallRules, SecurityPolicies } from '../tool-policy/index.js';
import { ToolExecutor, type ToolResult } from '../tool/index.js';
import type { Tool } from '../tool/method/index.js';
import { asApproved } from './loop/format-results.processor.js';
import { asCaller } from './loop/data-facts.executor.js';
import { CallDecider } from './loop/call-decider.executor.js';
import { CallExecutor } from './loop/call.executor.js';
import type { CallOutcome } from './loop/child-call.executor.js';
import { outcomeUnknown, withoutResult } from './loop/decided-result.factory.js';
import { NO_REPLY_PLAN } from './loop/reply-plan.policy.js';
import type { CallLoop, WaitingRules } from './reasoning.types.js';
import { publishedResult } from './loop/published-result.mapper.js';
import { toFailure } from './run-failure.mapper.js';

/** Raised when a recorded direct call would no longer replay the same way. */
export const TOOL_CALL_VERSION = 1;

/** A direct tool call, not requested by a model. */
export interface ToolCallRequest {
  readonly call: ToolCall;
  /** The tool, if it exists. */
  readonly tool: Tool | undefined;
  /** Maximum size of the result, in UTF-8 bytes. */
  readonly maxResultBytes: number;
  readonly waiting: Pick<WaitingRules, 'expiresMs'>;
  /** Facts of the data in its arguments. */
  readonly facts?: readonly DataFact[];
}

/** Outcome of the call: its result, or the requests that it waits for. */
export type ToolCallOutcome =
  | {
      readonly kind: 'ended';
      readonly finishReason: 'stop' | 'cancelled' | 'timeout' | 'error';
      readonly result: ToolResult;
      /** Usage of the models that the tool invoked. */
      readonly usage?: RunUsage;
      /** Usage of the child run of the call, if any, and of the runs below it. */
      readonly childrenUsage?: RunUsage;
      /** Facts of the data in the arguments and the result. */
      readonly facts?: readonly DataFact[];
      /** Only with the finish reasons `timeout` and `error`. */
      readonly failure?: RunFailure;
    }
  | { readonly kind: 'waiting'; readonly requests: readonly WaitingRequest[] }
  | Postponed;

type Ended = Extract<ToolCallOutcome, { kind: 'ended' }>;

const ITERATION = 1;
const PLACE = `${ITERATION}:1`;

/**
 * One call without a model. It takes the path of an agent's calls: planned, approved, claimed, invoked and recorded, as
 * the first call of the first iteration.
 */
@Injectable()
export class ToolCallEngine {
  private readonly logger = new Log(ToolCallEngine.name);
  private readonly calls: CallExecutor;

  constructor(
    tools: ToolExecutor,
    private readonly policies: SecurityPolicies,
    rules: CallRules,
  ) {
    this.calls = new CallExecutor(tools, new CallDecider(tools, rules), policies);
  }

  /**
   * Makes the call; failure, cancellation and timeout are outcomes too. It rejects only if the run continues in another
   * execution (`SHUTTING_DOWN`, `RUN_FENCED`, `JOURNAL_UNAVAILABLE`).
   */
  async run(request: ToolCallRequest, run: RunContext): Promise<ToolCallOutcome> {
    const loop = toLoop(request, run);
    const call = asApproved(run, request.call, PLACE);
    try {
      const done = await asCaller(loop, this.policies, () => this.calls.execute(loop, call, 1));
      if (isRelinquished(run.signal)) throw run.signal.reason;
      if (done.kind === 'waiting') return this.hold(done, call, loop);
      return { ...this.finish(done.result, run), ...originOf(done, loop) };
    } catch (error) {
      return this.close(loop, call, error);
    }
  }

  /** A successful call keeps its result, even if the run was aborted meanwhile. */
  private finish(result: ToolResult, { signal }: RunContext): Ended {
    if (result.success) return { kind: 'ended', finishReason: 'stop', result };
    if (signal.aborted && result.code === 'TOOL_CANCELLED') return stopped(signal, result);
    const failure = { code: result.code, message: result.error, is_retryable: false };
    return { kind: 'ended', finishReason: 'error', result, failure };
  }

  /** An aborted run does not wait for a decision. */
  private hold(
    { requests, outage }: Extract<CallOutcome, { kind: 'waiting' }>,
    call: ToolCall,
    { run, started }: CallLoop,
  ): ToolCallOutcome {
    if (!run.signal.aborted) return outage ? { kind: 'postponed', outage } : { kind: 'waiting', requests };
    const isUnknown = requests.some(({ kind }) => kind === 'outcome_unknown');
    const result = isUnknown
      ? outcomeUnknown(call.name)
      : withoutResult(call.name, toAppError(run.signal.reason), started.has(0));
    return stopped(run.signal, publishResult(run, call, result));
  }

  private close(loop: CallLoop, call: ToolCall, error: unknown): Ended {
    const { run } = loop;
    if (isRelinquished(run.signal)) throw run.signal.reason;
    const failure = toAppError(run.signal.aborted ? run.signal.reason : error);
    const { runId: run_id, sessionId: session_id } = run;
    if (failure.code === 'INTERNAL') this.logger.error({ err: failure.cause, run_id, session_id }, 'A run broke');
    const result = publishResult(run, call, withoutResult(call.name, failure, loop.started.has(0)));
    if (run.signal.aborted) return stopped(run.signal, result);
    return { kind: 'ended', finishReason: 'error', result, failure: toFailure(failure) };
  }
}

function toLoop({ call, tool, maxResultBytes, waiting, facts = [] }: ToolCallRequest, run: RunContext): CallLoop {
  return {
    run,
    tools: new Map(tool && [[call.name, tool]]),
    iteration: ITERATION,
    version: TOOL_CALL_VERSION,
    repairs: 0,
    failed: new Set(),
    stateful: new Set(),
    // Those of the caller: the run itself has no model that could read content.
    facts,
    reading: [],
    deniedTools: new Map(),
    deferred: null,
    resultReader: null,
    replyPlan: NO_REPLY_PLAN,
    signal: run.signal,
    started: new Set(),
    request: {
      agent: null,
      // No iteration is the last one, since no model answers after the call.
      limits: { maxIterations: Number.POSITIVE_INFINITY, maxResultBytes },
      waiting: { ...waiting, onDenied: 'end', onExpired: 'end' },
    },
  };
}

/** The totals that an agent's loop collects from its calls. */
function originOf(
  { child, usage }: Extract<CallOutcome, { kind: 'result' }>,
  loop: CallLoop,
): Pick<Ended, 'usage' | 'childrenUsage' | 'facts'> {
  const facts = mergeFacts(loop.facts, loop.reading);
  return {
    ...(usage && { usage }),
    ...(child && { childrenUsage: child.usage }),
    ...(facts.length > 0 && { facts }),
  };
}

function publishResult(run: RunContext, { id: call_id }: ToolCall, result: ToolResult): ToolResult {
  run.emitWithEnd({ type: 'tool.completed', iteration: ITERATION, call_id, ...publishedResult(result) });
  return result;
}

function stopped({ reason }: AbortSignal, result: ToolResult): Ended {
  const failure = toAppError(reason);
  if (failure.code === 'RUN_CANCELLED') return { kind: 'ended', finishReason: 'cancelled', result };
  const finishReason = failure.code === 'RUN_TIMEOUT' ? 'timeout' : 'error';
  return { kind: 'ended', finishReason, result, failure: toFailure(failure) };
}
