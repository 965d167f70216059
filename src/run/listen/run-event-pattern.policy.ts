import type { RunEvent } from '../run-event.types.js';

/** What runs tell those who listen to all of them; that a stream was closed is told to its follower alone. */
export type ToldEvent = Exclude<RunEvent, { readonly type: 'stream.closed' }>;
export type ToldType = ToldEvent['type'];

type FamilyOf<T extends string> = T extends `${infer Family}.${string}` ? `${Family}.*` : never;

/** One type (`tool.completed`), all types of a family (`tool.*`), or all (`**`). */
export type RunEventPattern = ToldType | FamilyOf<ToldType> | '**';

const TYPES = Object.keys({
  'run.started': true,
  'run.resumed': true,
  'run.waiting': true,
  'run.completed': true,
  'run.failed': true,
  'run.cancelled': true,
  'step.started': true,
  'step.restarted': true,
  'message.delta': true,
  'message.completed': true,
  thought: true,
  'tool.started': true,
  'tool.progress': true,
  'tool.completed': true,
  'node.started': true,
  'node.completed': true,
  'state.changed': true,
  'policy.decided': true,
  usage: true,
  'model.switched': true,
  'model.cached': true,
  'history.repaired': true,
} satisfies Record<ToldType, true>) as readonly ToldType[];

/** The types that a pattern stands for; none for one that no event can meet. */
export function eventTypesOf(pattern: string): readonly ToldType[] {
  if (pattern === '**') return TYPES;
  if (!pattern.endsWith('.*')) return TYPES.filter((type) => type === pattern);
  const family = pattern.slice(0, -1);
  return TYPES.filter((type) => type.startsWith(family));
}
