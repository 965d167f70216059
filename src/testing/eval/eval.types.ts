import type { JsonSchema } from '../../kernel/json/index.js';

/** An expected call of a tool. */
export interface ExpectedCall {
  readonly tool: string;
  /** Without it any arguments match. */
  readonly arguments?: Readonly<Record<string, unknown>>;
}

/** A line of a dataset. */
export interface EvalLine {
  /** Unique in the dataset; by default the number of the line, from 1. */
  readonly id: string;
  /** The message of the user; for a workflow its input, an object. */
  readonly input: string | Readonly<Record<string, unknown>>;
  readonly expected?: unknown;
  /** Expected calls, in order. */
  readonly calls?: readonly ExpectedCall[];
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Whether the message contains untrusted content. Only in this process, not over HTTP. */
  readonly isTainted?: boolean;
}

/** A call of a tool that the agent made. */
export interface EvalCall {
  readonly tool: string;
  /** A text if the model wrote invalid JSON. */
  readonly arguments: unknown;
  /** Absent for a call that waits for a person. */
  readonly isSuccessful?: boolean;
  readonly result?: unknown;
  readonly error?: string;
}

/** Tokens and cost of model calls, those of child runs included. */
export interface EvalUsage {
  readonly tokens: number;
  /** In the unit of `LLM_PRICES`; 0 for models without a price. */
  readonly cost: number;
}

/** The answer of an agent, as scorers receive it. */
export interface EvalAnswer {
  readonly runId: string;
  readonly status: string;
  readonly text: string;
  /** The value, if the answer has a format. */
  readonly output?: unknown;
  readonly calls: readonly EvalCall[];
  /** Number of model calls of the run. */
  readonly steps: number;
  readonly durationMs: number;
  readonly usage: EvalUsage;
  /** Code and message of a failed run. */
  readonly error?: string;
}

/** The definition to evaluate: a workflow, an agent, or the default agent. */
export interface EvalSubject {
  readonly agent?: string | undefined;
  readonly workflow?: string | undefined;
}

/** A question to an agent, or an input of a workflow. */
export interface EvalQuestion extends EvalSubject {
  readonly input: EvalLine['input'];
  /** Questions with the same key have the same run. */
  readonly key: string;
  readonly responseFormat?: JsonSchema;
  readonly isTainted?: boolean;
}

export interface Score {
  /** From 0 to 1. */
  readonly score: number;
  readonly reason: string;
  /** Of the model calls that the scorer made. */
  readonly usage?: EvalUsage;
}

export interface ScorerContext {
  readonly line: EvalLine;
  readonly answer: EvalAnswer;
  /** Asks another agent of the same application, in a run that resumes as those of the eval. */
  readonly ask: (agent: string | undefined, input: string, responseFormat?: JsonSchema) => Promise<EvalAnswer>;
  /** The key of this repetition, for questions to agents of another application. */
  readonly key: string;
}

export interface Scorer {
  /** Unique in an eval. */
  readonly name: string;
  /** The least score of a passed repetition; default 1. */
  readonly passAt?: number;
  /** Whether it is reported only: it does not decide whether a repetition passes. */
  readonly isTracked?: boolean;
  readonly score: (context: ScorerContext) => Score | Promise<Score>;
}

/** A function as a scorer; its name is the name of the score. */
export type ScorerFunction = (context: ScorerContext) => number | boolean | Score | Promise<number | boolean | Score>;
