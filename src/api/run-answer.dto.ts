import type { AgentStep, AnsweredNode, AnsweredTool } from '../agent/index.js';
import type { AnsweredBy, MemoryState, ReferenceState, ShortenedTurnState, WaitingRequest } from '../run/index.js';

/** Tokens, summed over the run's model calls. */
export class RunUsageDto {
  prompt_tokens!: number;
  completion_tokens!: number;
  total_tokens!: number;
  /** Of the prompts: what the provider had read before, where it says so. */
  cached_tokens?: number;
  /** Of the completions: what was thought and not said, where the provider says so. */
  reasoning_tokens?: number;
  /** In the unit of `LLM_PRICES`, to a billionth: of the calls whose model has a price. */
  cost?: number;
}

/** A turn of which the model was not given everything. */
export class ShortenedTurnDto implements ShortenedTurnState {
  turn!: number;
  /** `shortened`: texts were cut or rounds of calls left out. `question_and_answer`: everything between the two was left out. */
  form!: 'shortened' | 'question_and_answer';
  /** Messages of the turn that were left out. */
  dropped_messages!: number;
  /** UTF-16 units that were cut out of the other messages. */
  omitted_characters!: number;
}

/** The part of a referenced turn that the model received. */
export class ReferenceStateDto implements ReferenceState {
  turn!: number;
  /** `summarised`: only a summary covers it. */
  seen!: 'whole' | 'shortened' | 'summarised' | 'dropped';
}

/** The part of the session's history that the run received. */
export class MemoryStateDto implements MemoryState {
  /** Messages of the session before this run. */
  message_count!: number;
  /** Tokens of those that the model was given, a summary included. */
  context_tokens!: number;
  /** Messages that it was not given. */
  dropped!: number;
  /** The name of the agent's memory policy; `none` when it has no memory. */
  policy!: string;
  /** The token budget of the run. */
  max_context_tokens?: number;
  /** Turns that the model was given shortened, oldest first. */
  shortened?: ShortenedTurnDto[];
  /** For each turn in the request's `references`, the part that the model received. */
  references?: ReferenceStateDto[];
}

/** What the agent did in one place of its loop. */
export class AgentStepDto implements AgentStep {
  /** The model call it belongs to, from 1. */
  iteration!: number;
  thought!: string;
  /** A tool's name, or `finish`. */
  action!: string;
  /** The arguments that the tool was called with: the person's, where a person edited them; `null` for `finish`. */
  action_input!: unknown;
  is_finished!: boolean;
}

/** What is told of an image that a tool shows: its address, or what it is where it is data. */
export class ToldImageDto {
  media_type?: string;
  bytes?: number;
  url?: string;
}

/** What came of one tool call: `result` when it succeeded, else `error`. */
export class AnsweredToolDto implements AnsweredTool {
  tool!: string;
  success!: boolean;
  result?: unknown;
  /** Of what it shows beside its text; only when it shows something. */
  images?: ToldImageDto[];
  /** How many images more it had than a result may show. */
  images_left_out?: number;
  error?: string;
  execution_time_ms!: number;
  /** The run that the call was, where another agent was asked. */
  child_run_id?: string;
}

/** Why a run failed. */
export class RunFailureDto {
  code!: string;
  message!: string;
  /** Whether the same request may succeed when tried again. */
  is_retryable!: boolean;
}

/** What came of a node of a workflow. */
export class AnsweredNodeDto implements AnsweredNode {
  /** The node's id; `<id>/<n>` for the n-th item of a map, counted from 1. */
  node!: string;
  /** `llm`, `agent`, `tool`, `code`, `branch`, `map` or `human`. */
  kind!: AnsweredNode['kind'];
  /** `running`, `completed`, `failed` or `skipped`. */
  status!: AnsweredNode['status'];
  output?: unknown;
  error?: RunFailureDto;
  /** Where a branch went on. */
  next?: string[];
  /** The run that the node was, where an agent was asked. */
  child_run_id?: string;
}

/** What a run waits for: one decision about one call. */
export class WaitingRequestDto implements WaitingRequest {
  /** Unique in the run. */
  id!: string;
  /** `approval` (answer with approve or deny), `input`, `outcome_unknown` (answer with settle), or `child` (decide in that run). */
  kind!: WaitingRequest['kind'];
  /** The step that waits: `tool:1:2`. */
  step!: string;
  call_id!: string;
  tool!: string;
  /** JSON text. */
  arguments!: string;
  /** Why approval is wanted, why nobody knows the outcome, or what the other run waits for. */
  reason?: string;
  /** What the tool asks. */
  question?: string;
  /** The JSON Schema of an answer. */
  schema?: Record<string, unknown>;
  /** The run that the call is; with the kind `child` only. */
  child_run_id?: string;
  /** Epoch ms after which no answer is waited for any more; `null` for never. */
  expires_at!: number | null;
}

/** Another agent, and its run. */
export class AnsweredByDto implements AnsweredBy {
  agent!: string;
  run_id!: string;
}

/** What is told of every run. */
export class RunResultDto {
  run_id!: string;
  session_id!: string | null;
  /** The answer's text; what was reached, when the run ended early. */
  result!: string;
  /** The answer's value, where the agent or the request has a `responseFormat`; only of a run that is complete. */
  output?: unknown;
  /** Model calls made. */
  iterations!: number;
  duration_ms!: number;
  /** Whether the agent came to its answer. */
  is_complete!: boolean;
  /** `stop`, `length`, `content_filter`, `iteration_limit`, `timeout`, `cancelled` or `error`; `null` while it has not ended. */
  finish_reason!: string | null;
  usage!: RunUsageDto;
  /** What the runs took that it called, and those that they called; not in `usage`. */
  children_usage?: RunUsageDto;
  /** Who gave the answer, when the conversation was handed over. */
  answered_by?: AnsweredByDto;
  /** Once the run has ended. */
  memory_state?: MemoryStateDto;
  /** The model that answered. */
  model!: string;
  /** What must be decided before it goes on; only while it is `waiting`. */
  waiting?: WaitingRequestDto[];
}

/** What an agent answered. */
export class ChatAnswerDto extends RunResultDto {
  /** The run's status when it is not `completed`. */
  status?: string;
  /** With `includeDetails`. */
  steps?: AgentStepDto[];
  /** With `includeDetails`; in the order of the calls. */
  tool_results?: AnsweredToolDto[];
}

/** What came of a run so far. */
export class RunAnswerDto extends RunResultDto {
  agent!: string;
  /** `queued`, `running`, `waiting`, `completed`, `failed` or `cancelled`. */
  status!: string;
  steps!: AgentStepDto[];
  /** In the order of the calls. */
  tool_results!: AnsweredToolDto[];
  /** Of a workflow's run: its nodes so far, in the order in which they began. */
  nodes?: AnsweredNodeDto[];
  /** Why it failed, when it has. */
  error?: RunFailureDto;
  /** The run that called it. */
  parent_run_id?: string;
  /** Runs that it has called, in the order in which they began. */
  child_run_ids?: string[];
  /** The run that it is a fork of. */
  forked_from?: string;
}
