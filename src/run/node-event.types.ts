import type { JsonValue } from '../common/index.js';
import type { RunFailure } from './run-failure.types.js';

/** What a node of a workflow does. */
export type NodeKind = 'llm' | 'agent' | 'tool' | 'code' | 'branch' | 'map' | 'human';

/** Where in a workflow's graph something happens. */
interface NodePlace {
  /** The node's id; `<id>/<n>` for the n-th item of a map, counted from 1. */
  readonly node: string;
  readonly kind: NodeKind;
  /** The node's place in the workflow's list, counted from 1: what it tells of a model or a tool bears it. */
  readonly iteration: number;
}
export interface NodeStarted extends NodePlace {
  readonly type: 'node.started';
  /** The run that the node is, where it is one. */
  readonly child_run_id?: string;
}
export interface NodeCompleted extends NodePlace {
  readonly type: 'node.completed';
  /** `skipped`: no way led there. */
  readonly status: 'completed' | 'failed' | 'skipped';
  readonly output?: JsonValue;
  /** With `failed` only. */
  readonly error?: RunFailure;
  /** Where a branch goes on. */
  readonly next?: readonly string[];
}
