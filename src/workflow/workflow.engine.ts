import { Injectable } from '@nestjs/common';
import { AppError, toAppError } from '../errors/index.js';
import type { JsonValue } from '../kernel/json/index.js';
import type { Postponed } from '../run/index.js';
import { isRelinquished, type RunContext } from '../run/context/index.js';
import type { WaitingRequest } from '../run/decision/index.js';
import type { RunFailure, RunFinishReason } from '../run/event/index.js';
import { type DataFact, mergeFacts } from '../run/facts/index.js';
import type { NodeDefinition } from './definition/node.schema.js';
import { chooseBranch } from './execution/branch-node.policy.js';
import { MapNodeExecutor } from './execution/map-node.executor.js';
import { addCost, factsOfNode, inNode } from './execution/node-outcome.factory.js';
import type { NodeCost, NodeOutcome, NodeRecord, NodeTask } from './execution/node-task.types.js';
import { NodeExecutor } from './execution/node.executor.js';
import type { Edge, GraphNode, WorkflowGraph } from './graph/workflow-graph.types.js';
import { compileTemplate } from './template/template.parser.js';

/**
 * The version of new runs, raised when a recorded run would no longer replay the same way. Since version 2, an
 * incomplete answer fails its node or marks the run.
 */
export const WORKFLOW_VERSION = 2;
/** Versions whose recorded runs this engine replays. */
export const WORKFLOW_VERSIONS: readonly number[] = [1, WORKFLOW_VERSION];

/** One execution of a workflow. */
export interface WorkflowRequest {
  readonly graph: WorkflowGraph;
  readonly input: JsonValue;
  readonly isStreaming: boolean;
  /** Workflow version that the run was started with, one of `WORKFLOW_VERSIONS`. */
  readonly version: number;
}

/** End of the workflow, or its open requests. */
export type WorkflowOutcome =
  | {
      readonly kind: 'ended';
      /** `stop` if all used answers are complete, else the reason of the first node with an incomplete answer. */
      readonly finishReason: RunFinishReason;
      /** Null unless the workflow completed. */
      readonly output: JsonValue;
      readonly cost: NodeCost;
      readonly facts: readonly DataFact[];
      /** With the finish reasons `timeout` and `error`. */
      readonly failure?: RunFailure;
    }
  | { readonly kind: 'waiting'; readonly requests: readonly WaitingRequest[] }
  | Postponed;

type Ended = Extract<WorkflowOutcome, { kind: 'ended' }>;

/** Abort reason after a failed node that fails the workflow. */
class Abandoned extends AppError {
  constructor(readonly failure: RunFailure) {
    super('RUN_CANCELLED', failure.message);
  }
}

/** Executes a workflow's graph: each node starts when all its predecessors have ended, if a path leads to it. */
@Injectable()
export class WorkflowEngine {
  constructor(
    private readonly nodes: NodeExecutor,
    private readonly maps: MapNodeExecutor,
  ) {}

  /**
   * Executes nodes until none can continue; failure, cancel and time-out are outcomes too. Rejects only if the run
   * continues elsewhere or later (`SHUTTING_DOWN`, `RUN_FENCED`, `JOURNAL_UNAVAILABLE`).
   */
  async run(request: WorkflowRequest, run: RunContext): Promise<WorkflowOutcome> {
    const course = new Course(request, run);
    try {
      await this.continue(course);
      await course.quiet();
    } catch (error) {
      course.stop(error);
      await course.settled();
      return close(course, error);
    }
    // A postponed run does not wait for a person: its requests are published after the outage.
    if (course.outage) return { kind: 'postponed', outage: course.outage };
    if (course.waiting.size > 0) return { kind: 'waiting', requests: [...course.waiting.values()].flat() };
    return { kind: 'ended', finishReason: course.finishReason(), output: course.output(), ...course.sum() };
  }

  private async continue(course: Course): Promise<void> {
    for (;;) {
      course.signal.throwIfAborted();
      const next = course.ready();
      for (const id of next) await this.begin(course, id);
      if (course.running.size > 0) await Promise.race(course.running.values());
      else if (next.length === 0) return;
    }
  }

  private async begin(course: Course, id: string): Promise<void> {
    const node = course.node(id);
    const task = course.task(node);
    if (course.isReached(node)) return course.start(id, this.execute(node.definition, task));
    await this.nodes.skip(task, node.definition.type);
    course.settle(id, { status: 'skipped' });
  }

  private execute(definition: NodeDefinition, task: NodeTask): Promise<NodeOutcome> {
    switch (definition.type) {
      case 'branch':
        return this.nodes.carryOut(definition, task, async ({ scope }) => chooseBranch(definition, scope));
      case 'map':
        return this.nodes.carryOut(definition, task, (tried) => this.maps.execute(definition, tried));
      case 'llm':
      case 'agent':
      case 'tool':
      case 'code':
      case 'human':
        return this.nodes.execute(definition, task);
    }
  }
}

/** State of one execution: ended, executing and waiting nodes. */
class Course {
  readonly waiting = new Map<string, readonly WaitingRequest[]>();
  readonly running = new Map<string, Promise<void>>();
  /** The first outage that has postponed a node. */
  outage: AppError | undefined;
  private readonly over = new Map<string, NodeRecord>();
  private readonly controller = new AbortController();
  /** Aborts with the run, or when a node ends it. */
  readonly signal: AbortSignal;
  private readonly scope: Record<string, JsonValue>;

  constructor(
    private readonly request: WorkflowRequest,
    readonly run: RunContext,
  ) {
    this.signal = AbortSignal.any([run.signal, this.controller.signal]);
    this.scope = { input: request.input };
  }

  node(id: string): GraphNode {
    return this.request.graph.nodes.get(id)!;
  }

  /** Nodes that can start: all predecessors have ended, and the concurrency limit permits. */
  ready(): string[] {
    const { nodes, definition } = this.request.graph;
    const room = definition.limits.concurrency - this.running.size;
    const isReady = (id: string): boolean =>
      !this.over.has(id) && !this.running.has(id) && !this.waiting.has(id) && this.isDue(this.node(id));
    return [...nodes.keys()].filter(isReady).slice(0, Math.max(room, 0));
  }

  /** Whether a taken edge leads to the node; true for a node without incoming edges. */
  isReached({ incoming }: GraphNode): boolean {
    return incoming.length === 0 || incoming.some((edge) => this.isGone(edge));
  }

  task({ definition, number }: GraphNode): NodeTask {
    const { graph, isStreaming, version } = this.request;
    return {
      workflow: graph.definition,
      version,
      number,
      node: definition.id,
      path: definition.id,
      scope: { ...this.scope },
      run: this.run,
      signal: this.signal,
      isStreaming: isStreaming && graph.soloists.has(definition.id),
      hasFallback: definition.onError !== 'fail',
      hasOwnSession: graph.ownSessions.has(definition.id),
      facts: this.facts(),
    };
  }

  start(id: string, work: Promise<NodeOutcome>): void {
    const done = work.then(
      (outcome) => this.finish(id, outcome),
      (error: unknown) => this.abandon(error),
    );
    this.running.set(
      id,
      done.finally(() => this.running.delete(id)),
    );
  }

  settle(id: string, record: NodeRecord): void {
    this.over.set(id, record);
    if (record.status === 'completed') this.scope[id] = record.output;
  }

  /** Waits until no node executes. @throws the error that ended the workflow */
  async quiet(): Promise<void> {
    await this.settled();
    this.controller.signal.throwIfAborted();
  }

  /** Aborts the executing nodes. */
  stop(error: unknown): void {
    this.controller.abort(error);
  }

  /** Waits until no node executes. */
  async settled(): Promise<void> {
    await Promise.all(this.running.values());
  }

  /** The workflow's output: its `output` template, else the output of completed nodes without completed descendants. */
  output(): JsonValue {
    const { definition, descendants } = this.request.graph;
    if (definition.output !== undefined) return compileTemplate(definition.output).fill(this.scope);
    const isLast = (id: string): boolean =>
      this.isDone(id) && ![...descendants.get(id)!].some((after) => this.isDone(after));
    const last = definition.nodes.filter(({ id }) => isLast(id));
    const [only, ...others] = last.map(({ id }) => [id, this.scope[id] ?? null] as const);
    if (!only) return null;
    return others.length === 0 ? only[1] : Object.fromEntries([only, ...others]);
  }

  /** A run is complete only if all answers that it used are complete. */
  finishReason(): RunFinishReason {
    const records = this.request.graph.definition.nodes.map(({ id }) => this.over.get(id));
    const marked = records.find((record) => record?.status === 'completed' && record.incomplete !== undefined);
    return marked?.status === 'completed' ? (marked.incomplete ?? 'stop') : 'stop';
  }

  sum(): Pick<Ended, 'cost' | 'facts'> {
    const records = [...this.over.values()].filter((record) => record.status !== 'skipped');
    return { cost: records.reduce<NodeCost>(addCost, {}), facts: this.facts() };
  }

  private finish(id: string, outcome: NodeOutcome): void {
    if (outcome.status === 'waiting') {
      this.outage ??= outcome.outage;
      return void this.waiting.set(id, outcome.requests);
    }
    this.settle(id, outcome);
    const { definition } = this.node(id);
    if (outcome.status !== 'failed' || definition.onError !== 'fail') return;
    this.controller.abort(new Abandoned(inNode(id, outcome.error)));
  }

  /** Only the first error counts. */
  private abandon(error: unknown): void {
    if (!this.controller.signal.aborted) this.controller.abort(error);
  }

  private isDue({ incoming }: GraphNode): boolean {
    return incoming.every(({ from }) => this.over.has(from));
  }

  /** Whether an edge is taken: after success, by the choice of a branch, or as the fallback after a failure. */
  private isGone({ from, to, kind }: Edge): boolean {
    const record = this.over.get(from);
    if (kind === 'fallback') return record?.status === 'failed';
    if (record?.status !== 'completed') return false;
    return kind === 'next' || (record.next?.includes(to) ?? false);
  }

  private isDone(id: string): boolean {
    return this.over.get(id)?.status === 'completed';
  }

  private facts(): readonly DataFact[] {
    return [...this.over.values()].map(factsOfNode).reduce<readonly DataFact[]>(mergeFacts, []);
  }
}

function close(course: Course, error: unknown): Ended {
  const { signal } = course.run;
  if (isRelinquished(signal)) throw signal.reason;
  const base = { kind: 'ended', output: null, ...course.sum() } as const;
  if (error instanceof Abandoned && !signal.aborted) return { ...base, finishReason: 'error', failure: error.failure };
  const { code, message, isRetryable: is_retryable } = toAppError(signal.aborted ? signal.reason : error);
  if (code === 'JOURNAL_UNAVAILABLE') throw error;
  if (code === 'RUN_CANCELLED') return { ...base, finishReason: 'cancelled' };
  return {
    ...base,
    finishReason: code === 'RUN_TIMEOUT' ? 'timeout' : 'error',
    failure: { code, message, is_retryable },
  };
}
