import { Injectable } from '@nestjs/common';
import { setTimeout as delay } from 'node:timers/promises';
import { AppError, Log } from '../../errors/index.js';
import { isRelinquished, unreachable, type StepName } from '../../run/context/index.js';
import type { NodeDefinition, WorkDefinition } from '../definition/node.schema.js';
import { AgentNodeExecutor } from './agent-node.executor.js';
import { HumanNodeExecutor } from './human-node.executor.js';
import { LlmNodeExecutor } from './llm-node.executor.js';
import { addCost, costOf, failedNode, thrownNode } from './node-outcome.factory.js';
import type { NodeCost, NodeDone, NodeFailed, NodeOutcome, NodeRecord, NodeTask } from './node-task.types.js';
import { ToolNodeExecutor } from './tool-node.executor.js';

/** One attempt of a node; the engine supplies the attempts of branch and map nodes. */
export type Attempt = (task: NodeTask) => Promise<NodeOutcome>;

/** The retry settings of a node. */
type Retried = Pick<Extract<NodeDefinition, { type: 'llm' }>, 'retry'>;

/** Error codes that a retry cannot resolve. */
const FINAL: ReadonlySet<string> = new Set(['VALIDATION_FAILED', 'TOOL_DENIED', 'TOOL_EXPIRED', 'RUN_CANCELLED']);

/** Errors of the run, not of the node: the run cannot be replayed, or must be retried later. */
const OF_THE_RUN: ReadonlySet<string> = new Set(['STEP_CONFLICT', 'JOURNAL_UNAVAILABLE']);

/** Executes nodes and map items as units of a run: emits the start, retries failures, records the end once. */
@Injectable()
export class NodeExecutor {
  private readonly logger = new Log(NodeExecutor.name);

  constructor(
    private readonly llm: LlmNodeExecutor,
    private readonly agents: AgentNodeExecutor,
    private readonly tools: ToolNodeExecutor,
    private readonly people: HumanNodeExecutor,
  ) {}

  /**
   * Executes a node and records its outcome.
   * @throws the reason of an aborted signal
   */
  execute(definition: WorkDefinition, task: NodeTask): Promise<NodeOutcome> {
    return this.carryOut(definition, task, this.attemptOf(definition));
  }

  /** The same, with an attempt of the caller. */
  async carryOut(
    definition: Retried & Pick<NodeDefinition, 'type'>,
    task: NodeTask,
    attempt: Attempt,
  ): Promise<NodeOutcome> {
    const { type: kind } = definition;
    const step = stepOf(task.node, kind);
    // A replay check executes ended nodes again, with the recorded results of their steps.
    if (task.run.isRecorded(step) && !task.run.observer) return task.run.step<NodeDone | NodeFailed>(step, unreachable);
    await this.begin(definition, task);
    const outcome = await this.tried('retry' in definition ? definition.retry : undefined, task, attempt);
    return outcome.status === 'waiting' ? outcome : this.record(task, kind, fitted(outcome, task));
  }

  /** Whether an earlier execution has recorded the end of the node. */
  isOver({ type }: WorkDefinition, { run, node }: NodeTask): boolean {
    return run.isRecorded(stepOf(node, type));
  }

  /** Whether an earlier execution has started the node. */
  hasStarted({ run, node, number, path }: NodeTask): boolean {
    const isAnnounced = run.isRecorded({ kind: 'value', place: `begun:${number}/${node}` });
    return isAnnounced || run.isRecorded({ kind: 'child', place: `${number}/${path}` });
  }

  /** Reports that a node was stopped because its result is no longer needed. */
  async reportStopped({ type: kind }: WorkDefinition, { run, node, number }: NodeTask, message: string): Promise<void> {
    const event = { type: 'node.completed', node, kind, iteration: number, status: 'failed' } as const;
    const error = { code: 'RUN_CANCELLED', message, is_retryable: false };
    await run.value(`stopped:${number}/${node}`, () => run.emit({ ...event, error }));
  }

  /** Records that no path leads to the node. */
  async skip(task: NodeTask, kind: NodeDefinition['type']): Promise<void> {
    const { run, node, number: iteration } = task;
    const action = async (): Promise<NodeRecord> => {
      run.emit({ type: 'node.completed', node, kind, iteration, status: 'skipped' });
      return { status: 'skipped' };
    };
    await run.step(stepOf(node, kind), action, { isLast: () => true });
  }

  private attemptOf(work: WorkDefinition): Attempt {
    switch (work.type) {
      case 'llm':
        return (task) => this.llm.execute(work, task);
      case 'agent':
        return (task) => this.agents.execute(work, task);
      case 'tool':
      case 'code':
        return (task) => this.tools.execute(work, task);
      case 'human':
        return (task) => this.people.execute(work, task);
    }
  }

  /** Nodes that are child runs emit their start later, with the run's id. */
  private async begin(definition: Pick<NodeDefinition, 'type'>, task: NodeTask): Promise<void> {
    const { run, node, number: iteration } = task;
    const kind = definition.type;
    const isOwnRun = kind === 'llm' && 'streams' in definition && definition.streams === true && !task.isStreaming;
    if (kind === 'agent' || isOwnRun) return;
    await run.value(`begun:${iteration}/${node}`, () => run.emit({ type: 'node.started', node, kind, iteration }));
  }

  private async tried(retry: Retried['retry'], task: NodeTask, attempt: Attempt): Promise<NodeOutcome> {
    const { attempts = 1, delayMs = 0 } = retry ?? {};
    let spent: NodeCost = {};
    for (let n = 1; ; n++) {
      const path = n === 1 ? task.path : `${task.path}~${n}`;
      const outcome = await this.once({ ...task, path }, attempt);
      if (outcome.status === 'waiting') return outcome;
      const isOver = outcome.status === 'completed' || n >= attempts || FINAL.has(outcome.error.code);
      if (isOver) return { ...outcome, ...addCost(spent, outcome) };
      spent = addCost(spent, outcome);
      await this.pause({ ...task, path }, outcome, delayMs * 2 ** (n - 1));
    }
  }

  /** Records a failed attempt and waits before the next; an attempt recorded by an earlier execution needs no wait. */
  private async pause(task: NodeTask, outcome: NodeFailed, ms: number): Promise<void> {
    const { run, signal } = task;
    const step = failedStep(task);
    if (run.isRecorded(step)) return;
    await run.step(step, async () => outcome);
    await delay(ms, undefined, { signal }).catch(() => signal.throwIfAborted());
  }

  private async once(task: NodeTask, attempt: Attempt): Promise<NodeOutcome> {
    const failed = failedStep(task);
    if (task.run.isRecorded(failed)) return task.run.step<NodeFailed>(failed, unreachable);
    const { signal } = task;
    try {
      signal.throwIfAborted();
      const outcome = await attempt(task);
      // A failure after an abort is not the node's own.
      if (outcome.status === 'failed') signal.throwIfAborted();
      return outcome;
    } catch (error) {
      if (isRelinquished(task.run.signal)) throw task.run.signal.reason;
      signal.throwIfAborted();
      if (error instanceof AppError && OF_THE_RUN.has(error.code)) throw error;
      return this.failed(task, error);
    }
  }

  /** Logs the stack of unexpected errors; the message of an `AppError` is sufficient. */
  private failed({ run, path }: NodeTask, error: unknown): NodeFailed {
    if (!(error instanceof AppError))
      this.logger.error({ err: error, run_id: run.runId, node: path }, 'A node of a workflow broke');
    return thrownNode(error);
  }

  private async record(
    { run, node, number: iteration }: NodeTask,
    kind: NodeDefinition['type'],
    done: Exclude<NodeOutcome, { status: 'waiting' }>,
  ): Promise<NodeOutcome> {
    const step = stepOf(node, kind);
    run.observer?.settled(run.nameOf(step), done);
    return run.step(step, async () => {
      const event = { type: 'node.completed', node, kind, iteration } as const;
      if (done.status === 'failed') run.emit({ ...event, status: 'failed', error: done.error });
      else run.emit({ ...event, status: 'completed', output: done.output, ...(done.next && { next: done.next }) });
      return done;
    });
  }
}

/** The step that records the outcome of a node. */
function stepOf(node: string, kind: NodeDefinition['type']): StepName {
  return { kind: 'node', place: node, subject: kind };
}

/** The step that records a failed attempt before a retry. */
function failedStep({ number, path }: NodeTask): StepName {
  return { kind: 'node', place: `failed:${path}`, subject: `${number}/${path}` };
}

/** Fails a node whose output exceeds the limit, because cut JSON would be a different value. */
function fitted(
  done: Exclude<NodeOutcome, { status: 'waiting' }>,
  { workflow }: NodeTask,
): Exclude<NodeOutcome, { status: 'waiting' }> {
  if (done.status === 'failed') return done;
  const { maxOutputBytes } = workflow.limits;
  const bytes = Buffer.byteLength(JSON.stringify(done.output));
  if (bytes <= maxOutputBytes) return done;
  const message = `It gave ${bytes} bytes, and limits.maxOutputBytes is ${maxOutputBytes}: let it give less, or raise the limit.`;
  return failedNode('NODE_OUTPUT_TOO_LARGE', message, costOf(done));
}
