import { AppError } from '../errors/index.js';
import { Suspension, type ToolHandling, type ToolRegistration } from '../tool/index.js';
import type { ToolContext } from '../tool/method/index.js';
import { type StatefulOptions, toStateData } from '../tool/stateful/index.js';
import { InstanceHolder } from './instance-holder.js';

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

const MAX_INSTANCES = 1000;
/** Options determined by the adapter. */
const FIXED: ReadonlySet<string> = new Set<keyof StatefulOptions>(['initial', 'autoSave']);
const OF_SNAPSHOTS: ReadonlySet<string> = new Set<keyof StatefulOptions>(['maxStateBytes', 'maxVersions', 'conflict']);
/** Fields that only adapters have; all others belong to any tool. */
const OWN: ReadonlySet<string> = new Set<keyof StatefulAdapter<unknown>>([
  'create',
  'call',
  'snapshot',
  'restore',
  'dispose',
  'maxInstances',
]);

/**
 * Creates the registration of a tool whose objects hold state: one instance per context.
 * @throws AppError `TOOL_INVALID` with all mistakes
 */
export function adaptStateful<Instance>(adapter: StatefulAdapter<Instance>): ToolRegistration {
  assertAdaptable(adapter);
  const { maxInstances = MAX_INSTANCES, stateful = {} } = adapter;
  const most = isRestorable(adapter) ? maxInstances : Infinity;
  const dispose = async (instance: Instance): Promise<void> => adapter.dispose?.(instance);
  const holder = new InstanceHolder<Instance>(dispose, most);
  const said = Object.entries(adapter).filter(([key]) => !OWN.has(key));
  return {
    ...(Object.fromEntries(said) as Pick<StatefulAdapter<Instance>, 'name' | 'description'>),
    stateful: { ...stateful, autoSave: true },
    holder,
    handler: (args: never, context: ToolContext) =>
      holder.alone(context.state!.contextId, () => callHeld(adapter, holder, args, context)),
  };
}

async function callHeld<Instance>(
  adapter: StatefulAdapter<Instance>,
  holder: InstanceHolder<Instance>,
  args: never,
  context: ToolContext,
): Promise<unknown> {
  const state = context.state!;
  const found = JSON.stringify(state.data);
  const isKept = isRestorable(adapter);
  // The instance lacks changes by another process or a rollback, and has those of a call that was not stored.
  if (isKept && holder.knownTo(state.contextId) !== found) await holder.drop(state.contextId);
  const instance = holder.get(state.contextId) ?? (await make(adapter, holder, context));
  try {
    const result = await adapter.call(instance, args, context);
    if (!isKept) return result;
    if (result instanceof Suspension) {
      // The repeated call, perhaps in another process, starts from the stored state.
      await holder.drop(state.contextId);
      return result;
    }
    const snapshot = toStateData(await adapter.snapshot!(instance));
    const known = JSON.stringify(snapshot);
    if (known !== found) state.replace(snapshot);
    holder.put(state.contextId, instance, known);
    return result;
  } catch (error) {
    // The failed call may have left a partial change; the next instance is restored from the stored state.
    if (isKept) await holder.drop(state.contextId);
    throw error;
  }
}

async function make<Instance>(
  adapter: StatefulAdapter<Instance>,
  holder: InstanceHolder<Instance>,
  context: ToolContext,
): Promise<Instance> {
  const { contextId, version, data } = context.state!;
  const isMadeAnew = adapter.restore === undefined || version === 0;
  const instance = await (isMadeAnew ? adapter.create(context) : adapter.restore!(data as never, context));
  holder.put(contextId, instance, JSON.stringify(data));
  return instance;
}

function isRestorable<Instance>(adapter: StatefulAdapter<Instance>): boolean {
  return typeof adapter.snapshot === 'function';
}

function assertAdaptable<Instance>(adapter: StatefulAdapter<Instance>): void {
  const { name, source = `adaptStateful(${JSON.stringify(name)})`, maxInstances } = adapter;
  const isFunction = (key: 'create' | 'call' | 'snapshot' | 'restore') => typeof adapter[key] === 'function';
  const problems: string[] = [];
  const refuse = (isWrong: boolean, what: string): void => void (isWrong && problems.push(what));
  refuse(!isFunction('create'), 'it has no create: give a function of (context) that makes an instance');
  refuse(!isFunction('call'), 'it has no call: give a function of (instance, args, context)');
  refuse(
    isFunction('snapshot') !== isFunction('restore'),
    'it has one of snapshot and restore: give both, or none where an instance ends with the process',
  );
  refuse(
    maxInstances !== undefined && !isFunction('snapshot'),
    'it has maxInstances, but without snapshot no instance can be evicted',
  );
  refuse(
    maxInstances !== undefined && !(Number.isInteger(maxInstances) && maxInstances > 0),
    `its maxInstances is ${maxInstances}: use a whole number from 1 on`,
  );
  problems.push(...idleOptions(adapter.stateful, isFunction('snapshot')));
  if (problems.length > 0) throw new AppError('TOOL_INVALID', `${source}: ${problems.join('; ')}.`);
}

/** Options without effect. Option values are checked as for any tool. */
function idleOptions(stateful: unknown, isKept: boolean): string[] {
  if (typeof stateful === 'boolean') return [`its stateful is ${stateful}: it keeps state in any case, give options`];
  return Object.keys(stateful ?? {}).flatMap((key) => {
    if (FIXED.has(key))
      return [`its stateful.${key} has no effect: the state of an instance is stored after each call`];
    return isKept || !OF_SNAPSHOTS.has(key) ? [] : [`its stateful.${key} has no effect without snapshot`];
  });
}
