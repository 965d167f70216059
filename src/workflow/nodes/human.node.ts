import type { JsonSchema } from '../../kernel/json/index.js';
import type { Template } from '../definition/condition.schema.js';
import type { NodeInput } from '../definition/node.schema.js';
import { WorkflowNode } from './workflow.node.js';

type HumanInput = Extract<NodeInput, { type: 'human' }>;

/**
 * Waits for a person: for approval (outputs `approved`, `by`, `at`) or for an answer (outputs `value`, `by`, `at`).
 * Meanwhile the run is `waiting` and needs no process.
 */
export class HumanNode<const Id extends string> extends WorkflowNode<Id, HumanInput> {
  /** @param question text for the person; may contain placeholders */
  constructor(id: Id, asks: HumanInput['asks'], question: string) {
    super(id, { type: 'human', asks, question });
  }

  /** Data shown beside the question. */
  show(value: Template): this {
    return this.with({ show: value });
  }

  /** JSON Schema of the answer. */
  setSchema(schema: JsonSchema): this {
    return this.with({ schema: { ...schema } });
  }

  /** @param expiresMs time to live of the request, in ms; `null` for no expiry; default: seven days */
  setExpiry(expiresMs: number | null): this {
    return this.with({ expiresMs });
  }

  /** After a denial, continues with `approved: false`; by default the node fails. */
  continueWhenDenied(): this {
    return this.with({ onDenied: 'continue' });
  }
}
