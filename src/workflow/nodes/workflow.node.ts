import type { NodeInput } from '../definition/node.schema.js';

type Retry = NonNullable<Extract<NodeInput, { type: 'llm' }>['retry']>;

/** Builder of a node definition. */
export abstract class WorkflowNode<Id extends string = string, Input extends NodeInput = NodeInput> {
  /** @param id unique in its workflow. @param definition all fields except the id */
  protected constructor(
    readonly id: Id,
    protected definition: Omit<Input, 'id'>,
  ) {}

  /** Continues with another node after a failure, instead of failing the workflow. */
  withFallback(node: string): this {
    return this.with({ onError: { fallback: node } } as Partial<Omit<Input, 'id'>>);
  }

  /** Documents the node for readers. */
  describe(description: string): this {
    return this.with({ description } as Partial<Omit<Input, 'id'>>);
  }

  toDefinition(): NodeInput {
    return { ...this.definition, id: this.id } as unknown as NodeInput;
  }

  protected with(change: Partial<Omit<Input, 'id'>>): this {
    this.definition = { ...this.definition, ...change };
    return this;
  }
}

/** A node that can be retried. */
export abstract class RetriedNode<Id extends string, Input extends NodeInput> extends WorkflowNode<Id, Input> {
  /** @param attempts including the first. @param delayMs before the first retry, in ms; doubles with each retry */
  withRetry(attempts: Retry['attempts'], delayMs = 1000): this {
    return this.with({ retry: { attempts, delayMs } } as unknown as Partial<Omit<Input, 'id'>>);
  }
}

type AnsweredInput = Extract<NodeInput, { type: 'llm' | 'agent' }>;

/** A node with the answer of a model or an agent, which may be incomplete. */
export abstract class AnsweredNode<Id extends string, Input extends AnsweredInput> extends RetriedNode<Id, Input> {
  /**
   * Accepts an incomplete answer (truncated, filtered, or at the iteration limit), and marks the run as incomplete. By
   * default the node fails.
   */
  acceptIncomplete(): this {
    return this.with({ onIncomplete: 'accept' } as Partial<Omit<Input, 'id'>>);
  }
}
