import type { JsonSchema } from '../../common/index.js';
import type { Template } from '../definition/condition.schema.js';
import type { NodeInput } from '../definition/node.schema.js';
import { WorkflowNode } from './workflow.node.js';

type HumanInput = Extract<NodeInput, { type: 'human' }>;

/**
 * Waits for a person: for leave to go on (gives `approved`, `by`, `at`), or for an answer (gives `value`, `by`, `at`).
 * Meanwhile the run is `waiting`, and no process holds it.
 */
export class HumanNode<const Id extends string> extends WorkflowNode<Id, HumanInput> {
  /** @param question what the person reads, with places */
  constructor(id: Id, asks: HumanInput['asks'], question: string) {
    super(id, { type: 'human', asks, question });
  }

  /** What the person is shown beside the question. */
  show(value: Template): this {
    return this.with({ show: value });
  }

  /** What an answer must be. */
  setSchema(schema: JsonSchema): this {
    return this.with({ schema: { ...schema } });
  }

  /** @param expiresMs how long it stays open, in ms; `null` for ever. Seven days when it is not said */
  setExpiry(expiresMs: number | null): this {
    return this.with({ expiresMs });
  }

  /** Goes on with `approved: false` when it is denied; by default the node fails. */
  continueWhenDenied(): this {
    return this.with({ onDenied: 'continue' });
  }
}
