import type { RunEvent } from '../run-event.types.js';

/** The events that listeners of all runs receive; `stream.closed` goes to its follower only. */
export type PublishedEvent = Exclude<RunEvent, { readonly type: 'stream.closed' }>;
export type PublishedType = PublishedEvent['type'];

type GroupOf<T extends string> = T extends `${infer Group}.${string}` ? `${Group}.*` : never;

/** One type (`tool.completed`), all types of a group (`tool.*`), or all types (`**`). */
export type RunEventPattern = PublishedType | GroupOf<PublishedType> | '**';

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
  'context.compacted': true,
  'history.repaired': true,
} satisfies Record<PublishedType, true>) as readonly PublishedType[];

/** The event types that match a pattern; empty if no type matches. */
export function eventTypesOf(pattern: string): readonly PublishedType[] {
  if (pattern === '**') return TYPES;
  if (!pattern.endsWith('.*')) return TYPES.filter((type) => type === pattern);
  const prefix = pattern.slice(0, -1);
  return TYPES.filter((type) => type.startsWith(prefix));
}
