import type { ToolHandling } from '../tool-handling.types.js';
import type { ToolRegistration } from '../tool-registration.types.js';
import type { ToolContext } from '../tool.types.js';
import type { StatefulOptions } from './stateful-options.types.js';

/**
 * A tool whose objects keep state of their own. Methods, so that each may name the instance and the shape of the arguments.
 * With `snapshot` and `restore` what an instance knows outlives it; without them it lives as long as its context, in this process.
 */
export interface StatefulAdapter<Instance> extends Omit<ToolHandling, 'stateful'> {
  /** Unique in the application, `[A-Za-z0-9_-]{1,64}`. */
  readonly name: string;
  /** For the model: what the tool does and when to use it. */
  readonly description: string;
  /** The shape of the arguments; without it the tool takes none. */
  readonly parameters?: ToolRegistration['parameters'];
  /** Where and for how long snapshots are kept. */
  readonly stateful?: Omit<StatefulOptions, 'initial' | 'autoSave'>;
  /** The most instances that are kept at once, 1,000 by default; of more the one that was not used longest is let go. Needs `snapshot`. */
  readonly maxInstances?: number;
  /** Where it comes from, for people; errors name it. */
  readonly source?: string;
  /** Makes the instance of a context, at its first call. */
  create(context: ToolContext): Instance | Promise<Instance>;
  /** Makes a call; calls of one context come one after the other. What it returns is the result, what it throws goes to the model. */
  call(instance: Instance, args: never, context: ToolContext): unknown;
  /** What the instance knows, as a JSON object: kept as the business state when a call has succeeded. */
  snapshot?(instance: Instance): object | Promise<object>;
  /** Makes an instance that knows what the last successful call left: after a restart, a call that failed, a rollback. */
  restore?(snapshot: never, context: ToolContext): Instance | Promise<Instance>;
  /** Gives back what the instance holds. */
  dispose?(instance: Instance): void | Promise<void>;
}
