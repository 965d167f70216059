import type { StatefulOptions, ToolContext, ToolHandling, ToolRegistration } from '../tool/index.js';

/**
 * A tool whose objects hold state. Method syntax lets each method declare its own instance and argument types. With
 * `snapshot` and `restore` the data outlive the instance; otherwise the instance lives in this process, as long as its
 * context.
 */
export interface StatefulAdapter<Instance> extends Omit<ToolHandling, 'stateful'> {
  /** Unique in the application, `[A-Za-z0-9_-]{1,64}`. */
  readonly name: string;
  /** Description for the model: purpose of the tool and when to use it. */
  readonly description: string;
  /** Schema of the arguments; by default the tool has no parameters. */
  readonly parameters?: ToolRegistration['parameters'];
  /** Storage options of the snapshots. */
  readonly stateful?: Omit<StatefulOptions, 'initial' | 'autoSave'>;
  /** Maximum number of instances, default 1,000; the least recently used one is released first. Requires `snapshot`. */
  readonly maxInstances?: number;
  /** Place of the declaration, used in error messages. */
  readonly source?: string;
  /** Creates the instance of a context, at its first call. */
  create(context: ToolContext): Instance | Promise<Instance>;
  /**
   * Executes a call; calls of one context run one after the other. The return value is the result; a thrown error is
   * reported to the model.
   */
  call(instance: Instance, args: never, context: ToolContext): unknown;
  /** Data of the instance as a JSON object; stored as the business state after a successful call. */
  snapshot?(instance: Instance): object | Promise<object>;
  /**
   * Creates an instance from the snapshot of the last successful call: after a restart, a failed call or a rollback.
   */
  restore?(snapshot: never, context: ToolContext): Instance | Promise<Instance>;
  /** Releases the resources of the instance. */
  dispose?(instance: Instance): void | Promise<void>;
}
