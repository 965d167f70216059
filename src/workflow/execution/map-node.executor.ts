import { Injectable } from '@nestjs/common';
import { AppError } from '../../errors/index.js';
import { Semaphore } from '../../kernel/index.js';
import { ExactInteger, type JsonValue } from '../../kernel/json/index.js';
import type { WaitingRequest } from '../../run/decision/index.js';
import { type DataFact, mergeFacts } from '../../run/facts/index.js';
import type { DefinedNode } from '../definition/node.schema.js';
import { compileTemplate } from '../template/template.parser.js';
import { NodeExecutor } from './node.executor.js';
import { addCost, factsOfNode, failedNode, inNode, withFacts } from './node-outcome.factory.js';
import type { NodeCost, NodeDone, NodeFailed, NodeOutcome, NodeTask } from './node-task.types.js';

/** Limits the number of journal steps: each item is recorded separately. */
const MAX_ITEMS = 10_000;

type Over = NodeDone | NodeFailed;

/** Executes a node for each item of a list, with limited concurrency; each item is recorded separately. */
@Injectable()
export class MapNodeExecutor {
  constructor(private readonly nodes: NodeExecutor) {}

  async execute(definition: DefinedNode<'map'>, task: NodeTask): Promise<NodeOutcome> {
    const items = compileTemplate(definition.over).fill(task.scope);
    if (!Array.isArray(items)) return failedNode('VALIDATION_FAILED', `over: it is ${kindOf(items)}, not a list`);
    if (items.length > MAX_ITEMS) {
      return failedNode('VALIDATION_FAILED', `over: it has ${items.length} items; a map takes ${MAX_ITEMS} at most`);
    }
    const batch = new ItemBatch(definition, items, task);
    const open = await this.takeRecorded(batch);
    const places = new Semaphore(definition.concurrency);
    const settled = await Promise.allSettled(open.map((index) => this.executeItem(batch, index, places)));
    const broken = settled.find((one) => one.status === 'rejected');
    if (broken) throw broken.reason;
    if (batch.failure) await this.stopOthers(batch);
    return batch.outcome();
  }

  /** Adds the items that an earlier execution recorded, before new items start: one of them may have failed the map. */
  private async takeRecorded(batch: ItemBatch): Promise<number[]> {
    const open: number[] = [];
    for (const index of batch.items.keys()) {
      const task = batch.task(index);
      if (this.nodes.isOver(batch.work, task)) batch.add(index, await this.nodes.execute(batch.work, task));
      else open.push(index);
    }
    return open;
  }

  private async executeItem(batch: ItemBatch, index: number, places: Semaphore): Promise<void> {
    try {
      await places.enter(batch.signal);
      try {
        batch.started.add(index);
        batch.add(index, await this.nodes.execute(batch.work, batch.task(index)));
      } finally {
        places.leave();
      }
    } catch (error) {
      if (batch.hasFailed) return;
      batch.stop(error);
      throw error;
    }
  }

  /** Cancels child runs of the other items and reports stopped items, because the failed map discards their results. */
  private async stopOthers(batch: ItemBatch): Promise<void> {
    for (const index of batch.items.keys()) {
      const task = batch.task(index);
      const outcome = batch.outcomes[index];
      if (outcome && outcome.status !== 'waiting') continue;
      if (!batch.started.has(index) && !this.nodes.hasStarted(task)) continue;
      for (const request of outcome?.requests ?? []) await cancelChild(request, task);
      await this.nodes.reportStopped(batch.work, task, `Stopped: ${batch.failure!.error.message}`);
    }
  }
}

/** Cancels the child run of a request, if there is one. */
async function cancelChild({ child_run_id: id, step }: WaitingRequest, { run }: NodeTask): Promise<void> {
  if (id === undefined) return;
  const reason = new AppError('RUN_CANCELLED', 'The map has failed.');
  const signal = AbortSignal.abort(reason);
  await run.join({ id, step, request: () => Promise.reject(reason), signal }).catch(() => undefined);
}

/** The items of an executing map; a failure stops the remaining items. */
class ItemBatch {
  readonly outcomes: (NodeOutcome | undefined)[] = [];
  /** The items that this execution has started. */
  readonly started = new Set<number>();
  /** Failure of the map, if any. */
  failure: NodeFailed | null = null;
  readonly signal: AbortSignal;
  private readonly controller = new AbortController();
  /** Size of the output so far, in UTF-8 bytes. */
  private bytes = Buffer.byteLength('{"results":[]}');
  private added = 0;

  constructor(
    private readonly definition: DefinedNode<'map'>,
    readonly items: readonly JsonValue[],
    private readonly parent: NodeTask,
  ) {
    this.signal = AbortSignal.any([parent.signal, this.controller.signal]);
  }

  get work(): DefinedNode<'map'>['node'] {
    return this.definition.node;
  }

  /** Whether items stop because the map failed, not because the run was aborted. */
  get hasFailed(): boolean {
    return this.failure !== null && !this.parent.signal.aborted;
  }

  /** Each item has its own session, independent of the order of execution. */
  task(index: number): NodeTask {
    const { parent, signal } = this;
    const node = `${parent.node}/${index + 1}`;
    const scope = { ...parent.scope, item: this.items[index]!, index };
    const path = `${parent.path}/${index + 1}`;
    return { ...parent, node, path, scope, signal, isStreaming: false, hasOwnSession: true };
  }

  add(index: number, outcome: NodeOutcome): void {
    this.outcomes[index] = outcome;
    if (outcome.status === 'waiting') return;
    this.added++;
    if (outcome.status === 'failed' && this.definition.onItemError === 'fail') {
      return this.fail({ status: 'failed', error: inNode(this.task(index).node, outcome.error) });
    }
    this.bytes += Buffer.byteLength(JSON.stringify(toResult(outcome))) + (this.added > 1 ? 1 : 0);
    const { maxOutputBytes } = this.parent.workflow.limits;
    if (this.bytes > maxOutputBytes) this.fail(this.tooLarge(maxOutputBytes));
  }

  stop(reason: unknown): void {
    this.controller.abort(reason);
  }

  outcome(): NodeOutcome {
    const all = this.outcomes.filter((one) => one !== undefined);
    const over = all.filter((one): one is Over => one.status !== 'waiting');
    const cost = over.reduce<NodeCost>(addCost, {});
    const facts = withFacts(over.map(factsOfNode).reduce<readonly DataFact[]>(mergeFacts, []));
    if (this.failure) return { ...this.failure, ...cost, ...facts };
    const waiting = all.flatMap((one): readonly WaitingRequest[] => (one.status === 'waiting' ? one.requests : []));
    const outage = all.find((one) => one.status === 'waiting' && one.outage);
    if (outage) return outage;
    if (waiting.length > 0) return { status: 'waiting', requests: waiting };
    const done = over.filter((one) => one.status === 'completed');
    const incomplete = done.find((one) => one.incomplete !== undefined)?.incomplete;
    return {
      status: 'completed',
      output: { results: over.map(toResult) },
      ...cost,
      ...facts,
      ...(incomplete && { incomplete }),
    };
  }

  private fail(failure: NodeFailed): void {
    if (this.failure) return;
    this.failure = failure;
    this.stop(new AppError('RUN_CANCELLED', failure.error.message));
  }

  private tooLarge(limit: number): NodeFailed {
    const far = `after ${this.added} of ${this.items.length} items`;
    const message = `Its output has more than limits.maxOutputBytes (${limit}) ${far}: return less per item, or raise the limit.`;
    return failedNode('NODE_OUTPUT_TOO_LARGE', message);
  }
}

function toResult(one: Over): JsonValue {
  if (one.status === 'completed') return one.output;
  const { code, message } = one.error;
  return { error: { code, message } };
}

function kindOf(value: JsonValue): string {
  if (value === null) return 'nothing';
  if (value instanceof ExactInteger) return 'a number';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
