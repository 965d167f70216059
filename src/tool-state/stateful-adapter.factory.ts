import { AppError } from '../errors/index.js';
import {
  type StatefulOptions,
  Suspension,
  type ToolContext,
  type ToolRegistration,
  toStateData,
} from '../tool/index.js';
import { InstanceHolder } from './instance-holder.js';
import type { StatefulAdapter } from './stateful-adapter.types.js';

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
