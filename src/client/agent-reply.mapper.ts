import { toRunError, type AnsweredTool, type GivenFormat, type RunAnswer } from '../agent/answer/index.js';
import { AppError } from '../errors/index.js';
import { fieldMistake } from '../kernel/index.js';
import type { ModelParameters, ToolChoice, Usage } from '../llm/chat/index.js';
import type { WaitingRequest } from '../run/decision/index.js';
import type { RunFinishReason } from '../run/event/index.js';
import { toUsage } from '../run/usage/index.js';

export interface ChatOptions {
  /** Session to continue; by default the agent's own session. */
  readonly sessionId?: string;
  /** Whether to start a new session instead; default false. */
  readonly newSession?: boolean;
  /** Another model of the same provider, or one of another provider that is configured, as `provider:name`. */
  readonly model?: string;
  /** Model parameters; they override the agent's. */
  readonly parameters?: ModelParameters;
  /** Tool use in the model's first reply; by default the model decides. `none`: no tools in the whole run. */
  readonly toolChoice?: ToolChoice;
  /** Format of the answer; overrides the agent's. */
  readonly responseFormat?: GivenFormat;
  /** Images for the message: https URLs, or data URIs of PNG, JPEG, GIF or WebP. */
  readonly images?: readonly { readonly url: string }[];
}

/** Options of a stream of text. */
export interface ChatStreamOptions extends ChatOptions {
  /**
   * What happens when a reply starts again, after its stream broke or another model took over. `throw` (the default): text is
   * delivered at once, and a `StreamRestartedError` ends the stream if the new text differs from the delivered text.
   * `hold`: each reply is delivered when it is complete. Structured answers are always held.
   */
  readonly onRestart?: 'throw' | 'hold';
  /** Effect on the run when the iterator is left before its end: `cancel` (the default), or `continue` to its end. */
  readonly onLeave?: 'cancel' | 'continue';
}

/** An agent's answer. */
export interface ChatReply {
  readonly role: 'assistant';
  readonly content: string;
  /** Value of the answer, if it has a format; parsed by the Standard Schema, if one is given. */
  readonly output?: unknown;
  readonly finishReason: RunFinishReason | null;
  /** Whether the agent reached its final answer; false if a limit ended the run. */
  readonly isComplete: boolean;
  readonly usage: Usage;
  readonly iterations: number;
  readonly runId: string;
  readonly sessionId: string | null;
  /** Pending decisions (see `agent.approve` and the like); only while the run waits. */
  readonly waiting?: readonly WaitingRequest[];
  /** Results of the tools so far; only at the limit of iterations. */
  readonly toolResults?: readonly AnsweredTool[];
}

/** A run reached its limit of iterations before its final answer. */
export class IterationLimitError extends AppError {
  declare readonly code: 'ITERATION_LIMIT';

  /** @param reply the last text and the tool results */
  constructor(readonly reply: ChatReply) {
    super(
      'ITERATION_LIMIT',
      `The run "${reply.runId}" made ${reply.iterations} model calls, which is its limit, and has no final answer: raise limits.maxIterations, or read the reply of this error.`,
      { details: { run_id: reply.runId } },
    );
    this.name = 'IterationLimitError';
  }
}

/** @throws AppError with the failure's code if the run failed */
export function toReply(answer: RunAnswer): ChatReply {
  if (answer.error) throw toRunError(answer);
  const { result, finish_reason, is_complete, usage, iterations, run_id, session_id, waiting } = answer;
  return {
    role: 'assistant',
    content: result,
    ...('output' in answer && { output: answer.output }),
    finishReason: finish_reason,
    isComplete: is_complete,
    usage: toUsage(usage),
    iterations,
    runId: run_id,
    sessionId: session_id,
    ...(waiting && { waiting }),
    ...(finish_reason === 'iteration_limit' && { toolResults: answer.tool_results }),
  };
}

/**
 * Validates an option of an untyped caller.
 * @throws AppError `VALIDATION_FAILED`
 */
export function assertOneOf(option: string, received: unknown, allowed: readonly string[]): void {
  if (allowed.includes(received as string)) return;
  const problem = `must be ${allowed.map((value) => `"${value}"`).join(' or ')}`;
  throw new AppError('VALIDATION_FAILED', `${option} ${problem}.`, {
    details: { errors: [fieldMistake(option, problem, 'isIn', received)] },
  });
}
