import type { ModelCapabilities, ParameterName } from '../chat/chat.types.js';
import type { ProbeTalk } from './probe-talk.js';

/** `adapted`: it works after a change of the request or of a setting. */
export type ProbeOutcome = 'ok' | 'adapted' | 'failed' | 'not supported';

/** Settings that a check found to fit the model. */
export interface ProbeLesson {
  /** Parameters that the provider refuses, for `LLM_QUIRKS`. */
  readonly refused?: readonly ParameterName[];
  /** For `LLM_CAPABILITIES`. */
  readonly capabilities?: Partial<Record<keyof ModelCapabilities, boolean>>;
  /** Other assignments, such as `LLM_PROTOCOL=auto`. */
  readonly assignments?: readonly string[];
}

export interface ProbeFinding {
  readonly outcome: ProbeOutcome;
  readonly detail: string;
  readonly lesson?: ProbeLesson;
  /** Whether every chat fails with the present settings. */
  readonly isBlocking?: boolean;
}

export interface ProbeCheck {
  readonly name: string;
  /** Number of model calls, without repeats. */
  readonly calls: number;
  /** Whether agents cannot work if it fails. */
  readonly isMain?: boolean;
  /** Whether it is pointless for a model that has made no tool call. */
  readonly needsCalls?: boolean;
  run(talk: ProbeTalk): Promise<ProbeFinding> | ProbeFinding;
}

/** The result of one check. */
export interface ProbeRow {
  readonly check: string;
  readonly outcome: ProbeOutcome;
  readonly detail: string;
}

export const ok = (detail = ''): ProbeFinding => ({ outcome: 'ok', detail });
export const failed = (detail: string, lesson?: ProbeLesson): ProbeFinding => ({
  outcome: 'failed',
  detail,
  ...(lesson && { lesson }),
});
export const notSupported = (detail: string): ProbeFinding => ({ outcome: 'not supported', detail });
export const adapted = (detail: string, lesson: ProbeLesson): ProbeFinding => ({ outcome: 'adapted', detail, lesson });
