import { Injectable } from '@nestjs/common';
import { ExactInteger, Semaphore, type JsonValue } from '../../common/index.js';
import type { WaitingRequest } from '../../run/index.js';
import type { DefinedNode } from '../definition/node.schema.js';
import { compileTemplate } from '../template/template.parser.js';
import { NodeExecutor } from './node.executor.js';
import { addCost, failedNode, inNode } from './node-outcome.factory.js';
import type { NodeCost, NodeDone, NodeFailed, NodeOutcome, NodeTask } from './node-task.types.js';

/** What one node goes through; each item is steps of its own. */
const MAX_ITEMS = 10_000;

type Over = NodeDone | NodeFailed;

/** Does the same with every item of a list, so many at a time; each is recorded by itself. */
@Injectable()
export class MapNodeExecutor {
  constructor(private readonly nodes: NodeExecutor) {}

  async execute(definition: DefinedNode<'map'>, task: NodeTask): Promise<NodeOutcome> {
    const items = compileTemplate(definition.over).fill(task.scope);
    if (!Array.isArray(items)) return failedNode('VALIDATION_FAILED', `over: it is ${kindOf(items)}, not a list`);
    if (items.length > MAX_ITEMS) {
      return failedNode('VALIDATION_FAILED', `over: it has ${items.length} items; a map takes ${MAX_ITEMS} at most`);
    }
    const outcomes = await this.all(definition, items, task);
    const waiting = outcomes.flatMap((one): readonly WaitingRequest[] =>
      one?.status === 'waiting' ? one.requests : [],
    );
    const over = outcomes.filter((one): one is Over => one !== undefined && one.status !== 'waiting');
    const cost = over.reduce<NodeCost>(addCost, {});
    const failed = outcomes.findIndex((one) => one?.status === 'failed');
    if (failed >= 0 && definition.onItemError === 'fail') {
      const { error } = outcomes[failed] as NodeFailed;
      return { status: 'failed', error: inNode(itemOf(task, failed).node, error), ...cost };
    }
    if (waiting.length > 0) return { status: 'waiting', requests: waiting };
    const incomplete = over.map((one) => (one.status === 'completed' ? one.incomplete : undefined)).find(Boolean);
    const isTainted = over.some((one) => one.status === 'completed' && one.is_tainted);
    return {
      status: 'completed',
      output: { results: over.map(toResult) },
      ...cost,
      ...(isTainted && { is_tainted: true }),
      ...(incomplete && { incomplete }),
    };
  }

  /** What came of each; undefined for those that were not begun since an earlier one failed. */
  private async all(
    { node: work, concurrency, onItemError }: DefinedNode<'map'>,
    items: readonly JsonValue[],
    task: NodeTask,
  ): Promise<(NodeOutcome | undefined)[]> {
    const places = new Semaphore(concurrency);
    let isOver = false;
    const one = async (item: JsonValue, index: number): Promise<NodeOutcome | undefined> => {
      await places.enter(task.signal);
      try {
        if (isOver) return undefined;
        const scope = { ...task.scope, item, index };
        const outcome = await this.nodes.execute(work, { ...itemOf(task, index), scope, isStreaming: false });
        isOver ||= outcome.status === 'failed' && onItemError === 'fail';
        return outcome;
      } finally {
        places.leave();
      }
    };
    const settled = await Promise.allSettled(items.map(one));
    const broken = settled.find(({ status }) => status === 'rejected');
    if (broken?.status === 'rejected') throw broken.reason;
    return settled.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : undefined));
  }
}

function itemOf(task: NodeTask, index: number): NodeTask {
  return { ...task, node: `${task.node}/${index + 1}`, path: `${task.path}/${index + 1}` };
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
