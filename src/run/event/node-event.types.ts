import type { RunFailure } from './run-failure.types.js';
import type { JsonValue } from '../../kernel/json/index.js';

/** The type of a workflow node. */
export type NodeKind = 'llm' | 'agent' | 'tool' | 'code' | 'branch' | 'map' | 'human';

/** The position of an event in a workflow's graph. */
interface NodePlace {
  /** The node's id; `<id>/<n>` for the n-th item of a map, counted from 1. */
  readonly node: string;
  readonly kind: NodeKind;
  /** The node's position in the workflow's list, counted from 1; also the `iteration` of its model and tool events. */
  readonly iteration: number;
}
export interface NodeStarted extends NodePlace {
  readonly type: 'node.started';
  /** The node's child run, if it has one. */
  readonly child_run_id?: string;
}
export interface NodeCompleted extends NodePlace {
  readonly type: 'node.completed';
  /** `skipped`: no path led to the node. */
  readonly status: 'completed' | 'failed' | 'skipped';
  readonly output?: JsonValue;
  /** With `failed` only. */
  readonly error?: RunFailure;
  /** The nodes that a branch selected. */
  readonly next?: readonly string[];
}
