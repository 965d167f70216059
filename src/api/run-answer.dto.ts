import { Matches } from 'class-validator';
import type { AgentStep, AnsweredNode, AnsweredTool } from '../agent/answer/index.js';
import type { RunStatus } from '../run/index.js';
import type { WaitingRequest } from '../run/decision/index.js';
import type {
  AnsweredBy,
  CompactedState,
  MemoryState,
  ReferenceState,
  RunFinishReason,
  ShortenedTurnState,
} from '../run/event/index.js';
import type { WaitFact } from '../run/facts/index.js';
import type { PublishedFile } from '../run/files/index.js';

/** Tokens, summed over the run's model calls. */
export class RunUsageDto {
  prompt_tokens!: number;
  completion_tokens!: number;
  total_tokens!: number;
  /** Prompt tokens that the provider read from its cache, if it reports them. */
  cached_tokens?: number;
  /** Prompt tokens that the provider wrote to its cache, if it reports them. */
  cache_write_tokens?: number;
  /** Completion tokens used for reasoning, if the provider reports them. */
  reasoning_tokens?: number;
  /** Cost of the calls whose model has a price, in the unit of `LLM_PRICES`, to a billionth. */
  cost?: number;
}

/** A turn that the model received only in part. */
export class ShortenedTurnDto implements ShortenedTurnState {
  turn!: number;
  /**
   * `shortened`: texts were cut or rounds of calls omitted. `question_and_answer`: everything between the two was
   * omitted.
   */
  form!: 'shortened' | 'question_and_answer';
  /** Omitted messages of the turn. */
  dropped_messages!: number;
  /** UTF-16 units cut from the other messages. */
  omitted_characters!: number;
}

/** The part of a referenced turn that the model received. */
export class ReferenceStateDto implements ReferenceState {
  turn!: number;
  /** `summarised`: only a summary covers it. */
  seen!: 'whole' | 'shortened' | 'summarised' | 'dropped';
}

/** The parts of a run that its requests leave out. */
export class CompactedStateDto implements CompactedState {
  /** Number of tool results with a note in their place. */
  results!: number;
  /** Number of messages with a summary in their place. */
  messages!: number;
}

/** The part of the session's history that the run received. */
export class MemoryStateDto implements MemoryState {
  /** Messages of the session before this run. */
  message_count!: number;
  /** Tokens of the messages that the model received, including a summary. */
  context_tokens!: number;
  /** Number of messages that the model did not receive. */
  dropped!: number;
  /** Name of the agent's memory policy; `none` if it has no memory. */
  policy!: string;
  /** The token budget of the run. */
  max_context_tokens?: number;
  /** Turns that the model received shortened, oldest first. */
  shortened?: ShortenedTurnDto[];
  /** The parts of a long run that its last requests left out. */
  compacted?: CompactedStateDto;
  /** For each turn in the request's `references`, the part that the model received. */
  references?: ReferenceStateDto[];
}

/** One step of the agent's loop. */
export class AgentStepDto implements AgentStep {
  /** The model call of the step, from 1. */
  iteration!: number;
  thought!: string;
  /** A tool's name, or `finish`. */
  action!: string;
  /** Arguments of the tool call, including a person's edits; `null` for `finish`. */
  action_input!: unknown;
  is_finished!: boolean;
}

/** Binary content of a tool's result, to which its text refers as `[file 1: …]`. */
export class RunFileDto implements PublishedFile {
  /** Number of the file in its run: `GET /api/runs/{id}/files/{n}` returns the content. */
  n!: number;
  media_type!: string;
  bytes!: number;
  /** Name or address that the tool gave. */
  name?: string;
}

/** An image in a tool's result: its URL, or its type and size if it is data. */
export class ToldImageDto {
  media_type?: string;
  bytes?: number;
  url?: string;
  /** Number of the file that holds the data. */
  file?: number;
}

/** Outcome of one tool call: `result` if it succeeded, else `error`. */
export class AnsweredToolDto implements AnsweredTool {
  tool!: string;
  success!: boolean;
  /** Left out in a workflow's run where it is the output of a node. */
  result?: unknown;
  /** The node of a workflow that made the call. */
  node?: string;
  /** Bytes of a result (UTF-8 JSON) that is too large to be in the answer. */
  result_bytes?: number;
  /** Where such a result can be read. */
  result_url?: string;
  /** Binary content in the result, if any. */
  files?: RunFileDto[];
  /** Images in the result, if any. */
  images?: ToldImageDto[];
  /** The number of its other images: too many, too large, or no PNG, JPEG, GIF or WebP. */
  images_left_out?: number;
  error?: string;
  execution_time_ms!: number;
  /** The child run, if the call was to another agent. */
  child_run_id?: string;
}

/** Why a run failed. */
export class RunFailureDto {
  code!: string;
  message!: string;
  /** Whether the same request may succeed if it is retried. */
  is_retryable!: boolean;
}

/** Outcome of a workflow node. */
export class AnsweredNodeDto implements AnsweredNode {
  /** The node's id; `<id>/<n>` for the n-th item of a map, counted from 1. */
  node!: string;
  kind!: AnsweredNode['kind'];
  status!: AnsweredNode['status'];
  output?: unknown;
  /** Bytes of an output (UTF-8 JSON) that is too large to be in the answer of the run. */
  output_bytes?: number;
  /** Where the node can be read with such an output. */
  output_url?: string;
  error?: RunFailureDto;
  /** Nodes that a branch continued with. */
  next?: string[];
  /** The child run, if the node called an agent. */
  child_run_id?: string;
}

/** Which node of a workflow's run. */
export class RunNodeQueryDto {
  /** The node's id; `<id>/<n>` for the n-th item of a map, counted from 1. */
  @Matches(/^[A-Za-z][A-Za-z0-9_-]{0,47}(\/\d{1,5})?$/, {
    message: 'name must be the id of a node, or <id>/<n> for an item of a map',
  })
  name!: string;
}

/** A fact by which a call waits, with its source. */
export class WaitFactDto implements WaitFact {
  /** `untrusted` content and `private` data of the run; `out`: the call can carry data out or change something. */
  fact!: WaitFact['fact'];
  /** The step that is the source, such as `tool:1:2`; or `input`, `history`, `import`, `definitions`, `state`, `unknown`. */
  step!: string;
  tool?: string;
  /** The MCP server or REST API of the data. */
  origin?: string;
  /** The run of the step, if it is another one. */
  run_id?: string;
}

/** A pending decision: one decision about one call. */
export class WaitingRequestDto implements WaitingRequest {
  /** Unique in the run. */
  id!: string;
  /** `approval` (answer with approve or deny), `input`, `outcome_unknown` (answer with settle), `child` (decide in that run), or `restored` (release the run). */
  kind!: WaitingRequest['kind'];
  /** The waiting step, such as `tool:1:2`; empty with the kind `restored`, as are the call and the tool. */
  step!: string;
  call_id!: string;
  tool!: string;
  /** JSON text. */
  arguments!: string;
  /** Why the call needs approval, why its outcome is unknown, or the reason of the waiting child run. */
  reason?: string;
  /** The facts by which the call waits; with the kind `approval` only. */
  facts?: WaitFactDto[];
  /** Settings that would change the decision; with `facts` only. */
  settings?: string[];
  /** Coverage of an approval with a wider `scope`; only if the call waits by the rule of three facts alone. */
  covers?: CoverageDto;
  /** Whether only a second person may approve; with the kind `approval` only. */
  by_another?: true;
  /** Only principals with one of these roles may approve; with the kind `approval` only. */
  by_roles?: string[];
  /** The tool's question. */
  question?: string;
  /** JSON Schema of the answer. */
  schema?: Record<string, unknown>;
  /** The child run; with the kind `child` only. */
  child_run_id?: string;
  /** Expiry time of the request, epoch ms; `null` for never. */
  expires_at!: number | null;
}

/** Coverage of an approval with the scope `run` or `session`. */
export class CoverageDto {
  /** SHA-256 (hex) of the tool's definition. */
  definition!: string;
  /** Hosts and e-mail addresses in the arguments, in lower case; later calls may contain no others. */
  addresses!: string[];
}

/** Another agent and its run. */
export class AnsweredByDto implements AnsweredBy {
  agent!: string;
  run_id!: string;
}

/** Fields of every run. */
export class RunResultDto {
  run_id!: string;
  session_id!: string | null;
  /** Text of the answer; the partial result if the run ended early. */
  result!: string;
  /** Value of the answer, if the agent or the request has a `responseFormat`, only for a complete run; the output of a workflow. */
  output?: unknown;
  /** Number of model calls. */
  iterations!: number;
  duration_ms!: number;
  /** Whether the answer is complete; for a workflow, whether every answer that it used is complete. */
  is_complete!: boolean;
  /** `null` for an unfinished run. */
  finish_reason!: RunFinishReason | null;
  usage!: RunUsageDto;
  /** Usage of its child runs and their descendants; not included in `usage`. */
  children_usage?: RunUsageDto;
  /** The agent that gave the answer, if the conversation was handed over. */
  answered_by?: AnsweredByDto;
  /** Present after the run has ended. */
  memory_state?: MemoryStateDto;
  /** The model that gave the answer. */
  model!: string;
  /** Pending decisions; only for a `waiting` run. */
  waiting?: WaitingRequestDto[];
}

/** An agent's answer. */
export class ChatAnswerDto extends RunResultDto {
  /** The run's status if it is not `completed`. */
  status?: Exclude<RunStatus, 'completed'>;
  /** With `includeDetails`. */
  steps?: AgentStepDto[];
  /** With `includeDetails`; in the order of the calls. */
  tool_results?: AnsweredToolDto[];
}

/** The run so far. */
export class RunAnswerDto extends RunResultDto {
  agent!: string;
  status!: RunStatus;
  steps!: AgentStepDto[];
  /** In the order of the calls. */
  tool_results!: AnsweredToolDto[];
  /** Nodes of a workflow run so far, in the order of their start. */
  nodes?: AnsweredNodeDto[];
  /** The failure of a failed run. */
  error?: RunFailureDto;
  /** The parent run. */
  parent_run_id?: string;
  /** Child runs, in the order of their start. */
  child_run_ids?: string[];
  /** The original run of a fork. */
  forked_from?: string;
  /** Why an accepted run is queued again: its provider is unavailable, with the code of the error. */
  queued_reason?: string;
  /** Time of its next attempt, epoch ms. */
  next_attempt_at?: number;
}
