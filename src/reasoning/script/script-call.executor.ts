import { AppError, type ErrorCode } from '../../errors/index.js';
import type { JsonValue } from '../../kernel/json/index.js';
import type { ToolCall } from '../../llm/chat/index.js';
import type { ToolStarted } from '../../run/event/index.js';
import { mergeFacts } from '../../run/facts/index.js';
import type { CheckedCall, ToolResult } from '../../tool/index.js';
import type { Tool } from '../../tool/method/index.js';
import { failedResult, succeededCall } from '../../tool/result/index.js';
import { isOrdered } from '../loop/call-status.policy.js';
import { CallMeter } from '../loop/call-meter.builder.js';
import type { CallOutcome, JoinedCall } from '../loop/child-call.executor.js';
import { endingOf } from '../loop/continue-or-finish.processor.js';
import { withoutResult } from '../loop/decided-result.factory.js';
import { asApproved } from '../loop/format-results.processor.js';
import type { PlacedCall } from '../loop/waiting-request.factory.js';
import type { CallLoop } from '../reasoning.types.js';
import type { ScriptCall, ScriptResult } from './script-message.types.js';
import { runScript, type ScriptOutcome } from './script-thread.js';

/** Maximum size of the result of a call in a script, in UTF-8 bytes, unless the agent permits the model more. */
const MAX_RESULT_BYTES = 262_144;
const NOTHING = 'The script returned nothing: end it with `return` and the value that you need.';

/** A script in execution. */
interface RunningScript {
  readonly placed: PlacedCall;
  readonly loop: CallLoop;
  readonly meter: CallMeter;
  /** Set when calls wait: the script is executed again after the decisions. */
  waiting: Extract<CallOutcome, { kind: 'waiting' }> | null;
  /** Set when a denied or expired call ends the run. */
  ending: ToolResult | null;
}

/**
 * Executes a call that is a script. Each call of the script is an ordinary call of the run, at the place `1:2.3` for the
 * third call of the script at `1:2`: with its own policies, approval, claim, step and events. The script itself is not
 * recorded: a later execution of the run executes it again, and gets the recorded results of its calls. It is
 * deterministic: it has no clock and no random numbers, and gets the results of parallel calls together, in the order of
 * the calls.
 */
export class ScriptCallExecutor {
  /** @param execute executes one call of a script as a call of the run */
  constructor(private readonly execute: (placed: PlacedCall) => Promise<CallOutcome>) {}

  async run(placed: PlacedCall, { tool, input }: CheckedCall): Promise<JoinedCall> {
    const { loop, call } = placed;
    const running: RunningScript = {
      placed,
      loop: loopOf(loop, tool),
      meter: new CallMeter(placed),
      waiting: null,
      ending: null,
    };
    const names = await announce(placed, tool);
    const since = performance.now();
    try {
      const { script } = input as { readonly script: string };
      const outcome = await runScript({ script, tools: names }, loop.signal, (calls) => this.answer(running, calls));
      loop.run.signal.throwIfAborted();
      return ended(running, outcome, performance.now() - since);
    } catch (error) {
      if (loop.run.signal.aborted || !loop.signal.aborted || !(error instanceof AppError)) throw error;
      return { kind: 'ended', done: { result: withoutResult(call.name, error, true), meter: running.meter } };
    }
  }

  /** @returns `null` if the script cannot continue now */
  private async answer(running: RunningScript, calls: readonly ScriptCall[]): Promise<readonly ScriptResult[] | null> {
    const { loop } = running;
    loop.facts = mergeFacts(mergeFacts(loop.facts, running.placed.loop.facts), loop.reading);
    const areOrdered = calls.some(({ tool }) => isOrdered(loop.tools.get(tool)));
    const outcomes = areOrdered ? await this.oneByOne(running, calls) : await this.together(running, calls);
    running.meter.learn(loop.reading);
    const waits = outcomes.flatMap((outcome) => (outcome.kind === 'waiting' ? [outcome] : []));
    if (waits.length > 0) {
      running.waiting = {
        ...waits.find(({ outage }) => outage),
        ...waits[0]!,
        requests: waits.flatMap(({ requests }) => requests),
      };
      return null;
    }
    const results = outcomes.flatMap((outcome) => (outcome.kind === 'result' ? [outcome.result] : []));
    const end = endingOf({ request: loop.request, results: new Map(results.entries()) });
    if (end) running.ending = endingResult(running, results, end.code);
    return end ? null : results.map((result) => toScript(result, loop));
  }

  private async together(running: RunningScript, calls: readonly ScriptCall[]): Promise<readonly CallOutcome[]> {
    const settled = await Promise.allSettled(calls.map((call) => this.one(running, call)));
    const failure = settled.find((one) => one.status === 'rejected');
    if (failure) throw failure.reason;
    return settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  }

  /** A call that waits for a person delays those after it. */
  private async oneByOne(running: RunningScript, calls: readonly ScriptCall[]): Promise<readonly CallOutcome[]> {
    const outcomes: CallOutcome[] = [];
    for (const call of calls) {
      const outcome = await this.one(running, call);
      outcomes.push(outcome);
      if (outcome.kind === 'waiting') break;
    }
    return outcomes;
  }

  private async one({ placed, loop, meter }: RunningScript, { n, tool, arguments: args }: ScriptCall) {
    const place = `${placed.place}.${n}`;
    const written: ToolCall = { id: `${placed.call.id}.${n}`, name: tool, arguments: args };
    const call = asApproved(loop.run, written, place);
    const outcome = await this.execute({ loop, call, index: placed.index, place, mayWaitMs: undefined });
    if (outcome.kind === 'result' && outcome.usage) meter.add(outcome.usage);
    return outcome;
  }
}

/** The loop of a script's calls: with other tools, and facts that each call adds for those after it. */
function loopOf(loop: CallLoop, { scripted }: Tool): CallLoop {
  const { limits } = loop.request;
  const maxResultBytes = Math.max(limits.maxResultBytes, MAX_RESULT_BYTES);
  return {
    ...loop,
    tools: scripted!,
    deferred: null,
    resultReader: null,
    reading: [],
    request: { ...loop.request, limits: { ...limits, maxResultBytes } },
  };
}

/**
 * Publishes the start of the script, once. @returns the names of its tools, recorded: without one of them, the script
 * could make other calls in a later execution
 */
function announce({ loop, call, place }: PlacedCall, { scripted }: Tool): Promise<readonly string[]> {
  const { id: call_id, name: tool, arguments: args } = call;
  const started: ToolStarted = { type: 'tool.started', iteration: loop.iteration, call_id, tool, arguments: args };
  return loop.run.value(`script:${place}`, () => {
    loop.run.emit(started);
    return [...scripted!.keys()];
  });
}

function ended({ placed, meter, waiting, ending }: RunningScript, outcome: ScriptOutcome, ms: number): JoinedCall {
  if (waiting) return waiting;
  const { name } = placed.call;
  const { maxResultBytes } = placed.loop.request.limits;
  const elapsedMs = Math.round(ms);
  switch (outcome.kind) {
    case 'stopped':
      return { kind: 'ended', done: { result: ending!, meter } };
    case 'failed':
      return { kind: 'ended', done: { result: failedResult(name, 'TOOL_FAILED', outcome.message, elapsedMs), meter } };
    case 'returned': {
      const value = outcome.value === undefined ? NOTHING : (JSON.parse(outcome.value) as JsonValue);
      const text = typeof value === 'string' ? value : outcome.value!;
      return { kind: 'ended', done: { ...succeededCall(name, { value, text }, maxResultBytes, elapsedMs), meter } };
    }
  }
}

function endingResult({ placed }: RunningScript, results: readonly ToolResult[], code: ErrorCode): ToolResult {
  const [cause] = results.flatMap((result) => (!result.success && result.code === code ? [result] : []));
  return failedResult(placed.call.name, code, `its call of "${cause!.tool}": ${cause!.error}`);
}

/** A cut result has no value that a script could read. */
function toScript(result: ToolResult, { request }: CallLoop): ScriptResult {
  if (!result.success) return { error: result.error, code: result.code };
  if (result.result_bytes === undefined) return { value: JSON.stringify(result.result) };
  const { maxResultBytes } = request.limits;
  const error = `The result of ${result.tool} has ${result.result_bytes} bytes; a script can read ${maxResultBytes}: ask the tool for less.`;
  return { error, code: 'TOOL_FAILED' };
}
