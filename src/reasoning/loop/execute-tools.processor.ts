import { isDoneWithin } from '../../kernel/index.js';
import type { ToolCall } from '../../llm/chat/index.js';
import type { WaitingRequest } from '../../run/decision/index.js';
import { NO_USAGE } from '../../run/event/index.js';
import { addUsage } from '../../run/usage/index.js';
import type { CallResources, ToolExecutor } from '../../tool/index.js';
import type { CalledRun, Loop } from '../reasoning.types.js';
import { callKey, isOrdered } from './call-status.policy.js';
import type { CallExecutor } from './call.executor.js';
import { endingOf } from './continue-or-finish.processor.js';
import { isNotExecuted } from './decided-result.factory.js';
import { Processor } from './processor.js';
import { NO_REPLY_PLAN, ReplyPlan } from './reply-plan.policy.js';

const NOTHING: CallResources = { names: [], isChanging: false };

/**
 * For every call of the reply, the indexes of the earlier calls that must end before it starts: calls that share a
 * resource with it, if one of the two changes it, and calls of the same stateful tool. `null` if all calls may run in
 * parallel.
 */
async function orderOf(loop: Loop, tools: ToolExecutor): Promise<readonly (readonly number[])[] | null> {
  const { calls } = loop.decoded!;
  if (calls.length < 2 || !calls.some(({ name }) => isOrdered(loop.tools.get(name)))) return null;
  const resources = await Promise.all(calls.map((call) => resourcesOf(loop, call, tools)));
  const sharesState = (one: number, other: number) =>
    calls[one]!.name === calls[other]!.name && loop.tools.get(calls[one]!.name)?.metadata.state !== undefined;
  return resources.map((own, at) =>
    indexes(at).filter((earlier) => isConflict(resources[earlier]!, own) || sharesState(earlier, at)),
  );
}

async function resourcesOf(loop: Loop, call: ToolCall, tools: ToolExecutor): Promise<CallResources> {
  const tool = loop.tools.get(call.name);
  return tool?.metadata.resources ? tools.resources(tool, call) : NOTHING;
}

function isConflict(one: CallResources, other: CallResources): boolean {
  return (one.isChanging || other.isChanging) && one.names.some((name) => other.names.includes(name));
}

function indexes(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
}

/**
 * Executes the calls of one reply in parallel, except for calls that share a resource or a tool state. Results keep the
 * order of the calls. A call that waits for a person delays only the calls that must follow it.
 */
export class ExecuteToolsProcessor extends Processor {
  readonly name = 'execute-tools';

  constructor(
    private readonly calls: CallExecutor,
    private readonly tools: ToolExecutor,
  ) {
    super();
  }

  async process(loop: Loop): Promise<void> {
    const { calls } = loop.decoded!;
    const waiting = new Map<number, readonly WaitingRequest[]>();
    loop.waiting = waiting;
    loop.replyPlan = await planReply(loop, this.tools);
    loop.started = new Set();
    if (calls.length === 0) return;
    const ending = new AbortController();
    loop.signal = AbortSignal.any([loop.run.signal, ending.signal]);
    const called = new Map<number, CalledRun>();
    const settled = await this.executeAll(loop, async (call, index, mayWaitMs) => {
      const execution = this.calls.execute(loop, call, index + 1, mayWaitMs);
      const done = await loop.replyPlan.follow(index, execution);
      if (done.kind === 'waiting') {
        loop.outage ??= done.outage ?? null;
        return void waiting.set(index, done.requests);
      }
      loop.results.set(index, done.result);
      if (done.child) called.set(index, done.child);
      if (done.usage) loop.usage = addUsage(loop.usage, done.usage);
      // No model reads the results of the other calls.
      const end = endingOf(loop);
      if (end) ending.abort(end);
    });
    for (const [index, call] of calls.entries()) {
      const result = loop.results.get(index);
      // The model may repeat a call that was not executed.
      if (result?.success === false && !isNotExecuted(result)) loop.failed.add(callKey(call));
    }
    take(
      loop,
      calls.flatMap((_, index) => called.get(index) ?? []),
    );
    const failure = settled.find((one) => one.status === 'rejected');
    if (failure) throw failure.reason;
  }

  private async executeAll(
    loop: Loop,
    execute: (call: ToolCall, index: number, mayWaitMs?: number) => Promise<void>,
  ): Promise<PromiseSettledResult<void>[]> {
    const { calls } = loop.decoded!;
    const order = await orderOf(loop, this.tools);
    const startedCalls: Promise<void>[] = [];
    const begin = async (call: ToolCall, index: number, earlier: readonly number[]): Promise<void> => {
      const mayWaitMs = this.tools.queueTimeout(loop.tools.get(call.name));
      const since = performance.now();
      const earlierOnes = Promise.allSettled(startedCalls.filter((_, at) => earlier.includes(at)));
      if (!(await isDoneWithin(mayWaitMs, earlierOnes))) return execute(call, index, 0);
      // An earlier call without a result waits for a person, or has failed the run.
      const isFree = earlier.every((at) => loop.results.has(at));
      if (isFree) await execute(call, index, Math.max(1, mayWaitMs - (performance.now() - since)));
    };
    for (const [index, call] of calls.entries()) {
      const earlier = order?.[index] ?? [];
      startedCalls.push(earlier.length === 0 ? execute(call, index) : begin(call, index, earlier));
    }
    return Promise.allSettled(startedCalls);
  }
}

/**
 * Adds the child runs of one reply to the loop. A reply recorded by an earlier version may have several hand-offs: the
 * first counts.
 */
function take(loop: Loop, called: readonly CalledRun[]): void {
  for (const { answer, ...run } of called) {
    loop.childrenUsage = addUsage(loop.childrenUsage ?? NO_USAGE, run.usage);
    if (answer) loop.handedTo ??= { ...run, answer };
  }
}

/** Fixes, by the calls' positions, which hand-off may be executed and which questions get a session of their own. */
async function planReply(loop: Loop, tools: ToolExecutor): Promise<ReplyPlan> {
  const { calls } = loop.decoded!;
  const childOf = (index: number) => loop.tools.get(calls[index]!.name)?.child;
  const children = [...calls.keys()].filter((index) => childOf(index) !== undefined);
  if (children.length < 2) return NO_REPLY_PLAN;
  const handoffs = children.filter((index) => childOf(index)!.isHandoff);
  const calledAgents = new Set<string>();
  const separate = new Set<number>();
  for (const index of children) {
    const { kind, name, isHandoff } = childOf(index)!;
    // A call with invalid arguments asks nothing.
    if (isHandoff || (await tools.check(calls[index]!, loop.tools)).kind === 'rejected') continue;
    const agent = `${kind}\n${name}`;
    if (calledAgents.has(agent)) separate.add(index);
    calledAgents.add(agent);
  }
  return new ReplyPlan(
    handoffs,
    separate,
    handoffs.find((index) => isStarted(loop, index)),
  );
}

/** Whether an earlier execution recorded the child run. */
function isStarted({ run, iteration }: Loop, index: number): boolean {
  return run.isRecorded({ kind: 'child', place: `${iteration}:${index + 1}` });
}
