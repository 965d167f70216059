import type { NodeInput } from '../definition/node.schema.js';

type Retry = NonNullable<Extract<NodeInput, { type: 'llm' }>['retry']>;

/** A node as it is built; what it becomes is data. */
export abstract class WorkflowNode<Id extends string = string, Input extends NodeInput = NodeInput> {
  /** @param id unique in its workflow. @param definition what it does, but its id */
  protected constructor(
    readonly id: Id,
    protected definition: Omit<Input, 'id'>,
  ) {}

  /** Goes on with another node when this one fails, instead of failing the workflow. */
  withFallback(node: string): this {
    return this.with({ onError: { fallback: node } } as Partial<Omit<Input, 'id'>>);
  }

  /** For people who read the workflow. */
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
  /** @param attempts in all. @param delayMs before the second one; each later one waits twice as long */
  withRetry(attempts: Retry['attempts'], delayMs = 1000): this {
    return this.with({ retry: { attempts, delayMs } } as unknown as Partial<Omit<Input, 'id'>>);
  }
}

type AnsweredInput = Extract<NodeInput, { type: 'llm' | 'agent' }>;

/** A node that asks a model: its answer may not be whole. */
export abstract class AnsweredNode<Id extends string, Input extends AnsweredInput> extends RetriedNode<Id, Input> {
  /**
   * Uses an answer that is not whole (cut off, filtered, at the iteration limit): the run is not whole then. By default the
   * node fails.
   */
  acceptIncomplete(): this {
    return this.with({ onIncomplete: 'accept' } as Partial<Omit<Input, 'id'>>);
  }
}
