// Written by `npm run openapi:client` from docs/openapi.json.

/** A chat request to an agent. */
export interface ChatRequest {
  /** The user's message; not blank. */
  readonly query: string;
  /** Whether the answer includes the steps and tool results. Default: `false`. */
  readonly includeDetails?: boolean;
  /** Whether the run is cancelled when the client disconnects. Default: `false`. */
  readonly cancelOnDisconnect?: boolean;
  /** Session of the conversation. If omitted or unknown, a new session starts. */
  readonly sessionId?: string;
  /** Name of the agent; if omitted, the default agent. */
  readonly agent?: string;
  /** Any JSON object, stored with the message in the session; models do not receive it. */
  readonly metadata?: object;
  /** Numbers of earlier turns that the message refers to. The memory policy `lru` retains them longer. */
  readonly references?: readonly number[];
  /** Another model of the agent's provider, or one of another provider that is configured, as `provider:name`. */
  readonly model?: string;
  /** Model parameters; they override the agent's. */
  readonly parameters?: ModelParameters;
  /**
   * Tool use in the model's first reply: `auto` (the model decides), `none` (no tools in the whole run),
   * `required` (at least one call), or `{name}` (a call of that tool).
   */
  readonly toolChoice?:
    | 'none'
    | 'auto'
    | 'required'
    | {
        readonly name: string;
      };
  /**
   * Format of the final answer; overrides the agent's. `json` (any object), or `{schema, name?}` with a JSON
   * Schema. The answer's `output` is then the validated value.
   */
  readonly responseFormat?:
    | 'json'
    | {
        readonly schema: object;
        /** Name of the schema, for providers that require one; 1 to 64 of A-Z a-z 0-9 _ -. */
        readonly name?: string;
      };
  /** Images for the message; at most 20. 422 if the model does not support images. */
  readonly images?: readonly GivenImage[];
  /** Deadline in ms from now. The run ends at the deadline in any status. */
  readonly deadlineMs?: number;
}

/** An agent's answer. */
export interface ChatAnswer {
  /** The run's status if it is not `completed`. */
  readonly status?: 'running' | 'failed' | 'cancelled' | 'queued' | 'waiting';
  /** With `includeDetails`. */
  readonly steps?: readonly AgentStep[];
  /** With `includeDetails`; in the order of the calls. */
  readonly tool_results?: readonly AnsweredTool[];
  readonly run_id: string;
  readonly session_id: string | null;
  /** Text of the answer; the partial result if the run ended early. */
  readonly result: string;
  /**
   * Value of the answer, if the agent or the request has a `responseFormat`, only for a complete run; the output
   * of a workflow.
   */
  readonly output?: unknown;
  /** Number of model calls. */
  readonly iterations: number;
  readonly duration_ms: number;
  /** Whether the answer is complete; for a workflow, whether every answer that it used is complete. */
  readonly is_complete: boolean;
  /** `null` for an unfinished run. */
  readonly finish_reason:
    'stop' | 'length' | 'content_filter' | 'iteration_limit' | 'timeout' | 'cancelled' | 'error' | null;
  readonly usage: RunUsage;
  /** Usage of its child runs and their descendants; not included in `usage`. */
  readonly children_usage?: RunUsage;
  /** The agent that gave the answer, if the conversation was handed over. */
  readonly answered_by?: AnsweredBy;
  /** Present after the run has ended. */
  readonly memory_state?: MemoryState;
  /** The model that gave the answer. */
  readonly model: string;
  /** Pending decisions; only for a `waiting` run. */
  readonly waiting?: readonly WaitingRequest[];
}

/** A request to an agent that runs in the background. */
export interface BackgroundRequest {
  /** Priority in the queue, 0 to 9; runs with a higher priority start first. Default: `0`. */
  readonly priority?: number;
  /** The user's message; not blank. */
  readonly query: string;
  /** Session of the conversation. If omitted or unknown, a new session starts. */
  readonly sessionId?: string;
  /** Name of the agent; if omitted, the default agent. */
  readonly agent?: string;
  /** Any JSON object, stored with the message in the session; models do not receive it. */
  readonly metadata?: object;
  /** Numbers of earlier turns that the message refers to. The memory policy `lru` retains them longer. */
  readonly references?: readonly number[];
  /** Another model of the agent's provider, or one of another provider that is configured, as `provider:name`. */
  readonly model?: string;
  /** Model parameters; they override the agent's. */
  readonly parameters?: ModelParameters;
  /**
   * Tool use in the model's first reply: `auto` (the model decides), `none` (no tools in the whole run),
   * `required` (at least one call), or `{name}` (a call of that tool).
   */
  readonly toolChoice?:
    | 'none'
    | 'auto'
    | 'required'
    | {
        readonly name: string;
      };
  /**
   * Format of the final answer; overrides the agent's. `json` (any object), or `{schema, name?}` with a JSON
   * Schema. The answer's `output` is then the validated value.
   */
  readonly responseFormat?:
    | 'json'
    | {
        readonly schema: object;
        /** Name of the schema, for providers that require one; 1 to 64 of A-Z a-z 0-9 _ -. */
        readonly name?: string;
      };
  /** Images for the message; at most 20. 422 if the model does not support images. */
  readonly images?: readonly GivenImage[];
  /** Deadline in ms from now. The run ends at the deadline in any status. */
  readonly deadlineMs?: number;
}

/** The run so far. */
export interface RunAnswer {
  readonly agent: string;
  readonly status: 'running' | 'completed' | 'failed' | 'cancelled' | 'queued' | 'waiting';
  readonly steps: readonly AgentStep[];
  /** In the order of the calls. */
  readonly tool_results: readonly AnsweredTool[];
  /** Nodes of a workflow run so far, in the order of their start. */
  readonly nodes?: readonly AnsweredNode[];
  /** The failure of a failed run. */
  readonly error?: AnsweredRunFailure;
  /** The parent run. */
  readonly parent_run_id?: string;
  /** Child runs, in the order of their start. */
  readonly child_run_ids?: readonly string[];
  /** The original run of a fork. */
  readonly forked_from?: string;
  /** Why an accepted run is queued again: its provider is unavailable, with the code of the error. */
  readonly queued_reason?: string;
  /** Time of its next attempt, epoch ms. */
  readonly next_attempt_at?: number;
  readonly run_id: string;
  readonly session_id: string | null;
  /** Text of the answer; the partial result if the run ended early. */
  readonly result: string;
  /**
   * Value of the answer, if the agent or the request has a `responseFormat`, only for a complete run; the output
   * of a workflow.
   */
  readonly output?: unknown;
  /** Number of model calls. */
  readonly iterations: number;
  readonly duration_ms: number;
  /** Whether the answer is complete; for a workflow, whether every answer that it used is complete. */
  readonly is_complete: boolean;
  /** `null` for an unfinished run. */
  readonly finish_reason:
    'stop' | 'length' | 'content_filter' | 'iteration_limit' | 'timeout' | 'cancelled' | 'error' | null;
  readonly usage: RunUsage;
  /** Usage of its child runs and their descendants; not included in `usage`. */
  readonly children_usage?: RunUsage;
  /** The agent that gave the answer, if the conversation was handed over. */
  readonly answered_by?: AnsweredBy;
  /** Present after the run has ended. */
  readonly memory_state?: MemoryState;
  /** The model that gave the answer. */
  readonly model: string;
  /** Pending decisions; only for a `waiting` run. */
  readonly waiting?: readonly WaitingRequest[];
}

/** All agents. */
export interface AgentList {
  readonly agents: readonly Agent[];
}

/** An agent. The instructions are not published. */
export interface Agent {
  readonly name: string;
  readonly description: string;
  /** Whether the agent handles requests that name no agent. */
  readonly is_default: boolean;
  readonly model: AgentModel;
  /** Tool protocol for its model: `native`, `react`, `xml`, or a protocol of the application. */
  readonly protocol: string;
  /** Tools offered to its model for the caller's tenant, without those that are agents. */
  readonly tools: readonly string[];
  readonly mcp_servers: readonly AgentMcpServer[];
  /** Agents that it can call. */
  readonly sub_agents: readonly string[];
  /** Agents that it can hand the conversation over to. */
  readonly handoffs: readonly string[];
  /** Skills that its model can read. */
  readonly skills: readonly string[];
  /** JSON Schema of its answers, or `json` for any object; absent if its answers have no format. */
  readonly response_format?: unknown;
  readonly memory: AgentMemory;
  readonly limits: AgentLimits;
  readonly budgets?: AgentBudgets;
  /** Restrictions in addition to the security policy: `tools`, `arguments`, `content` and `taint`, as in a policy. */
  readonly guardrails?: unknown;
  /** Names of tools whose calls all need approval; `*` matches any characters. */
  readonly approvals: readonly string[];
}

/** A page of runs, newest first. */
export interface RunPage {
  readonly runs: readonly ListedRun[];
  /** The `cursor` of the next page; `null` on the last page. */
  readonly next: string | null;
  /** With `text`: creation time of the oldest run that was searched, epoch ms; `null` if none was. */
  readonly searched_to?: number | null;
  /** With `text`: whether all runs that match the other filters were searched; else `next` continues the search. */
  readonly is_search_complete?: boolean;
}

/** A run's journal, byte-exact, as replay reads it; a viewer's lacks instructions. Times are epoch ms. */
export interface RunJournal {
  readonly run_id: string;
  readonly agent: string;
  readonly status: string;
  readonly session_id: string | null;
  /** The original run of a fork. */
  readonly forked_from: string | null;
  readonly loop_version: number;
  readonly created_at: number;
  readonly finished_at: number | null;
  /** The run's stored input. */
  readonly input: unknown;
  /** The stored definition of the agent; for viewers without instructions. */
  readonly definition: unknown;
  readonly steps: readonly JournalStep[];
  readonly events: readonly JournalEvent[];
  /** The `after` of the next page; `null` on the last page. */
  readonly next: number | null;
}

/** A run with its journal and everything that a replay needs. Times are epoch ms. */
export interface RunExport {
  /** Version of the format. */
  readonly version: number;
  readonly run_id: string;
  /** `agent`, `workflow` or `tool`. */
  readonly kind: string;
  readonly agent: string;
  readonly status: string;
  readonly session_id: string | null;
  /** The original run of a fork. */
  readonly forked_from: string | null;
  /** The position below the calling run; `null` for a run that no run called. */
  readonly lineage: unknown;
  readonly loop_version: number;
  readonly timeout_ms: number;
  readonly created_at: number;
  readonly finished_at: number | null;
  readonly principal: ExportedPrincipal;
  /** The run's stored input. */
  readonly input: unknown;
  /** The stored definition of the agent. */
  readonly definition: unknown;
  readonly steps: readonly JournalStep[];
  readonly events: readonly JournalEvent[];
  readonly requests: readonly ExportedRequest[];
  readonly calls: readonly ExportedCall[];
  /** The earlier turns that the run has read; `null` if it has read none. */
  readonly history: unknown;
  readonly files: readonly ExportedFile[];
  /** The ends of its child runs, by id. */
  readonly children: unknown;
}

/** A fork request: a new run from a step of another run. */
export interface ForkRequest {
  /**
   * First step that the new run executes; earlier steps are copied and do not repeat. For a workflow run:
   * `node:<id>` (that node and those after it start again), or `input` (all nodes).
   */
  readonly fromStep: string;
  /** The new run's session, which must not exist yet; if omitted, a new id. */
  readonly sessionId?: string;
  readonly edit?: ForkEdit;
}

/** Approval of pending calls. */
export interface ApproveRequest {
  /** One pending call; if omitted, all of them. */
  readonly callId?: string;
  /**
   * Arguments that replace the model's arguments of the call; validated in the same way. The history retains the
   * model's call, and its result begins with a note of the change.
   */
  readonly arguments?: object;
  /**
   * `run` and `session` also cover later calls of the same tool with no other hosts and addresses (`covers` of the
   * request), in this run or in the runs of its session. Only for calls that wait by the rule of three facts
   * alone, and not with `arguments`. Default: `"call"`.
   */
  readonly scope?: 'call' | 'run' | 'session';
}

/** Denial of pending calls or, without such calls, of pending questions. */
export interface DenyRequest {
  /** One pending call; if omitted, all of them. */
  readonly callId?: string;
  /** Reason. The model reads it, or the tool that asked, if the tool handles denials. */
  readonly reason?: string;
}

/** The answer to a tool's question. */
export interface InputRequest {
  /** The call that asks; required only if several calls ask. */
  readonly callId?: string;
  /** Any JSON value that matches the question's `schema`. */
  readonly value: unknown;
}

/** Settlement of a call whose outcome is unknown after a crash. */
export interface SettleRequest {
  /** The call to settle; required only if there are several. */
  readonly callId?: string;
  /** `retry`: the call did not happen; repeat it. `succeeded`, `failed`: it happened, with this result. */
  readonly outcome: 'retry' | 'succeeded' | 'failed';
  /** Only with `succeeded`: the tool's result, any JSON value; `null` if omitted. */
  readonly result?: unknown;
  /** Only with `failed`: the error for the model. */
  readonly error?: string;
}

/** The report of an eval that has ended. */
export interface EvalRequest {
  /** In the format of `jackdaw eval --report`. Its `comparison` is not stored. */
  readonly report: object;
}

/** A stored eval. */
export interface Eval {
  readonly id: string;
  /** Id of the principal who stored it. */
  readonly created_by: string;
  /** Epoch ms. */
  readonly created_at: number;
  /** In the format of `jackdaw eval --report`; in lists without `results`. */
  readonly report: Readonly<Record<string, unknown>>;
}

/** A page of evals, newest first. */
export interface EvalPage {
  readonly evals: readonly Eval[];
  /** The `cursor` of the next page; `null` on the last page. */
  readonly next: string | null;
}

/** Feedback on a run: at least one field. */
export interface FeedbackRequest {
  /** 0 (bad) to 1 (good), stored to a thousandth. */
  readonly score?: number;
  /** Reason of the score; not blank. */
  readonly comment?: string;
  /** The answer that the run should have given. */
  readonly correction?: string;
}

/** Feedback of one person on a run. */
export interface Feedback {
  readonly run_id: string;
  readonly agent: string;
  /** Id of the principal who gave it. */
  readonly given_by: string;
  /** 0 (bad) to 1 (good). */
  readonly score: number | null;
  readonly comment: string | null;
  readonly correction: string | null;
  /** Epoch ms. */
  readonly created_at: number;
}

/** A page of a dataset, newest first. */
export interface DatasetPage {
  readonly lines: readonly DatasetLine[];
  /** The `cursor` of the next page; `null` on the last page. */
  readonly next: string | null;
}

/** A page of requests, those of the oldest run first. */
export interface WaitingPage {
  readonly requests: readonly ListedRequest[];
  /** The `cursor` of the next page; `null` on the last page. */
  readonly next: string | null;
}

/** A new session. */
export interface SessionRequest {
  /** If omitted, a new id. */
  readonly id?: string;
  /** Any JSON object; models do not receive it. */
  readonly metadata?: object;
}

/** A session. Times are epoch ms. */
export interface Session {
  readonly id: string;
  /** Id of the principal who created the session. */
  readonly owner: string;
  /** Number of turns since the last clear, including erased ones. */
  readonly turn_count: number;
  readonly message_count: number;
  /** Metadata of the session. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Whether the session has untrusted content. */
  readonly is_tainted: boolean;
  /** Whether the session has private data. */
  readonly is_private: boolean;
  readonly created_at: number;
  readonly updated_at: number;
  /** The session of the calling agent, if an agent uses this session to call another agent; else `null`. */
  readonly parent_session_id: string | null;
  /** Set in lists if the stored row is damaged; the metadata is then empty. */
  readonly is_damaged?: boolean;
}

/** A page of sessions. */
export interface SessionPage {
  readonly sessions: readonly Session[];
  /** The `cursor` of the next page; `null` on the last page. */
  readonly next: string | null;
}

/** A session to import. */
export interface SessionImportRequest {
  /** The complete export. */
  readonly session: object;
  /** A new id; if omitted, the exported one. */
  readonly id?: string;
  /** Whether to trust an import without a valid signature; needs the scope `sessions:trust`. Default: `false`. */
  readonly trusted?: boolean;
}

/** A page of messages in whole turns, oldest first. */
export interface MessagePage {
  readonly messages: readonly Message[];
  /** The `after` of the next page; `null` on the last page. */
  readonly next: number | null;
}

/** An exported session, format version 1. Times are epoch ms. */
export interface SessionExport {
  readonly version: number;
  /** Its id, owner, times and metadata. */
  readonly session: Readonly<Record<string, unknown>>;
  /** Its turns with their messages, oldest first. */
  readonly turns: readonly Readonly<Record<string, unknown>>[];
  /** HMAC-SHA256 of this installation over the other fields, valid in the same tenant. */
  readonly signature?: string;
}

/** All tools. */
export interface ToolList {
  readonly tools: readonly Tool[];
}

/** A tool. */
export interface Tool {
  readonly name: string;
  /** The description that models receive. */
  readonly description: string;
  /** Repetition after a crash: `read` may repeat, `idempotent` may repeat with the same key, `once` must not. */
  readonly effect: 'read' | 'once' | 'idempotent';
  /** Where the tool is declared. */
  readonly source: string;
  /**
   * Whether the tool is enabled for the caller's tenant. Models do not receive a disabled tool, and its calls are
   * refused.
   */
  readonly enabled: boolean;
  /** Models that do not receive the tool, if any; known since the first request to each. */
  readonly omitted?: readonly ToolOmission[];
  /** Suspicious parts of an MCP tool's definition, if any. Models receive the tool nevertheless. */
  readonly warnings?: readonly ToolWarning[];
  /** JSON Schema of the arguments. */
  readonly input_schema: Readonly<Record<string, unknown>>;
  /** JSON Schema of the results, if declared. */
  readonly output_schema?: Readonly<Record<string, unknown>>;
  readonly metadata: ToolMetadata;
}

/** A direct tool call. */
export interface ToolCallRequest {
  /** Arguments of the tool; if omitted, none. */
  readonly arguments?: object;
  /** The session of the call, which must exist. The call locks it while it runs and adds no messages to it. */
  readonly sessionId?: string;
  /** Deadline of the call, in ms from now. */
  readonly deadlineMs?: number;
}

/** A tool call so far. A failed call is also a normal response: `success` states the outcome. */
export interface ToolCallAnswer {
  /** The call's run: `GET /api/runs/{id}` returns it. */
  readonly run_id: string;
  readonly session_id: string | null;
  readonly tool: string;
  /** `waiting`: for a person. */
  readonly status: 'running' | 'completed' | 'failed' | 'cancelled' | 'queued' | 'waiting';
  /** Present after the call has ended. */
  readonly success?: boolean;
  /** The tool's result, if the call succeeded. */
  readonly result?: unknown;
  /** Binary content in the result. */
  readonly files?: readonly RunFile[];
  /** Images in the result. */
  readonly images?: readonly ToldImage[];
  /** The number of its other images: too many, too large, or no PNG, JPEG, GIF or WebP. */
  readonly images_left_out?: number;
  /** The error of a failed call. */
  readonly error?: string;
  /** Stable code of the error. */
  readonly code?: string;
  readonly execution_time_ms?: number;
  /** Pending decisions; only for a `waiting` call. */
  readonly waiting?: readonly WaitingRequest[];
}

/** All MCP servers. */
export interface McpServerList {
  readonly servers: readonly McpServer[];
}

/** An HTTP server to add. Programs cannot be added over REST. */
export interface McpNewServerRequest {
  readonly name: string;
  /** URL of its Streamable HTTP endpoint. */
  readonly url: string;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** As in `config/mcp-servers.json`. */
  readonly auth?: object;
  /** Maximum duration of one call, in ms. */
  readonly timeoutMs?: number;
  /** Whether the server's hints about its tools apply; by default `ignore`. */
  readonly hints?: 'believe' | 'ignore';
  /** Deprecated: `true` is `hints: "believe"`. */
  readonly trusted?: boolean;
  /** Handling of changed definitions and new tools; default `hold`. */
  readonly pins?: 'follow' | 'hold' | 'block';
  /** Handling of suspicious definitions; default `hide`. */
  readonly scan?: 'hide' | 'warn' | 'off';
  /** Whether results are private data; by default those of a server with credentials. */
  readonly private?: boolean;
  /** Patterns that select tools by name. */
  readonly tools?: readonly string[];
}

/** An MCP server. */
export interface McpServer {
  readonly name: string;
  /** Transport: `stdio`, `http`, or `sse` for the HTTP transport of 2024. */
  readonly transport: 'stdio' | 'http' | 'sse';
  /** Where the server is declared. */
  readonly source: string;
  readonly status: 'failed' | 'disabled' | 'connecting' | 'ready' | 'closed';
  /** Time of the last status change, epoch ms; 0 for a disabled server. */
  readonly since: number;
  /** Number of successful connections. */
  readonly connects: number;
  /** Its tools, by their names in Jackdaw. */
  readonly tools: readonly string[];
  /** Handling of changed definitions and new tools. */
  readonly pins: 'follow' | 'hold' | 'block';
  /** Handling of suspicious definitions. */
  readonly scan: 'hide' | 'warn' | 'off';
  /** Number of its tools whose definitions wait for a person: hidden tools, and tools used as accepted. */
  readonly quarantined: number;
}

/** Accepts everything of a server that waits, or shows it. */
export interface McpAcceptAllRequest {
  /** Shows the waiting definitions, and accepts nothing. */
  readonly dryRun?: boolean;
  /**
   * The `digest` of a dry run: 409 if the definitions have changed since. By default the present ones are
   * accepted.
   */
  readonly digest?: string;
}

/** The definitions and annotations of a server that wait, or that were accepted. */
export interface McpAccepted {
  /** Whether they were accepted; false in a dry run. */
  readonly accepted: boolean;
  /** SHA-256 (hex) of these definitions. */
  readonly digest: string;
  readonly tools: readonly McpQuarantine[];
}

/** Usage within the retention time (`USAGE_RETENTION_DAYS`). */
export interface UsagePage {
  /** Total over the entries of all pages. */
  readonly total: UsageSum;
  /** In the order of their keys. */
  readonly entries: readonly UsageEntry[];
  /** The `cursor` of the next page; `null` on the last page. */
  readonly next: string | null;
}

/** All workflows. */
export interface WorkflowList {
  readonly workflows: readonly Workflow[];
}

/** A workflow. */
export interface Workflow {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of its input, if declared. */
  readonly input?: Readonly<Record<string, unknown>>;
  readonly nodes: readonly WorkflowNode[];
  readonly edges: readonly WorkflowEdge[];
  /** The graph as a Mermaid flowchart. */
  readonly mermaid: string;
}

/** Starts a run of a workflow. */
export interface WorkflowRunRequest {
  /** Input, in the format of the workflow's `input`; if omitted, empty. */
  readonly input?: object;
  /** The session for the memory of the workflow's agents. The run locks it until the run ends. */
  readonly sessionId?: string;
  /**
   * Whether the request waits until the run has ended or waits for a decision; by default the run continues in the
   * background. Default: `false`.
   */
  readonly wait?: boolean;
  /**
   * Priority in the queue, 0 to 9; runs with a higher priority start first. Has no effect with `wait`. Default:
   * `0`.
   */
  readonly priority?: number;
  /** Deadline in ms from now. The run ends at the deadline in any status. */
  readonly deadlineMs?: number;
}

/** A new API key, in the caller's tenant. */
export interface KeyRequest {
  /** Purpose of the key; not blank. */
  readonly name: string;
  /**
   * `admin` may do everything in the tenant, `user` everything except keys and erasure, `viewer` only read.
   * `operator` sees the usage of every tenant, but no content.
   */
  readonly role: 'admin' | 'user' | 'viewer' | 'operator';
  /**
   * Narrows the rights of the role: some of `chat`, `runs:read`, `runs:write`, `sessions:read`, `sessions:write`,
   * `sessions:trust`, `tools:read`, `tools:call`, `usage:read`, `webhooks`, `keys`, `erase`, `audit` and
   * `operate`, or `*` for all of them (the default).
   */
  readonly scopes?: readonly (
    | 'chat'
    | 'runs:read'
    | 'runs:write'
    | 'sessions:read'
    | 'sessions:write'
    | 'sessions:trust'
    | 'tools:read'
    | 'tools:call'
    | 'tools:write'
    | 'usage:read'
    | 'webhooks'
    | 'keys'
    | 'erase'
    | 'audit'
    | 'operate'
    | '*'
  )[];
  /**
   * The visible sessions, runs and tool states: the key's `own`, or `all` of its tenant. By default keys with the
   * role `user` see their own, others all.
   */
  readonly visibility?: 'own' | 'all';
  /**
   * Expiry time: epoch ms, or ISO 8601 with a time zone; a date alone is its midnight, UTC. If omitted, the key
   * never expires.
   */
  readonly expiresAt?: string;
}

/** A new API key. */
export interface NewKey {
  /** The key itself. Only the first response contains it, not its repetition: the server stores only its hash. */
  readonly key?: string;
  /** Also the id of the key's principal. */
  readonly id: string;
  readonly name: string;
  readonly role: 'user' | 'admin' | 'viewer' | 'operator';
  readonly scopes: readonly string[];
  readonly visibility: 'own' | 'all';
  readonly created_at: number;
  /** Id of the principal who created the key. */
  readonly created_by: string;
  /** `null` if the key never expires. */
  readonly expires_at: number | null;
  /** `null` if the key is not revoked. */
  readonly revoked_at: number | null;
  /** To the minute; `null` if the key was never used. */
  readonly last_used_at: number | null;
}

/** A page of API keys, newest first. */
export interface KeyPage {
  readonly keys: readonly Key[];
  /** The `cursor` of the next page; `null` on the last page. */
  readonly next: string | null;
}

export type RunEvent =
  | NodeCompleted
  | RunStarted
  | RunResumed
  | RunWaiting
  | PolicyDecided
  | PolicyApplied
  | RunCompleted
  | RunFailed
  | RunCancelled
  | MessageCompleted
  | Thought
  | ToolStarted
  | ToolCompleted
  | StateChanged
  | NodeStarted
  | UsageReported
  | ModelSwitched
  | ModelCached
  | ContextCompacted
  | HistoryRepaired
  | StepStarted
  | MessageDelta
  | StepRestarted
  | ToolProgressed
  | StreamClosed;

/** Problem details (RFC 9457); further members contain details, such as `run_id`. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  /** What happened, to what, and what to do. */
  readonly detail: string;
  /** Stable code of the error. */
  readonly code: string;
  /** Id of the request, as in `X-Request-Id` and in the log. */
  readonly request_id?: string;
  /** All invalid fields of the request. */
  readonly errors?: readonly {
    /** Path of the field in the request: `images.0.url`, `arguments.text`, `cursor`. */
    readonly field: string;
    readonly message: string;
    /** Name of the violated rule. */
    readonly rule: string;
    /** JSON type of the given value; `nothing` if it is missing. */
    readonly got: string;
  }[];
}

/**
 * Sampling parameters and reasoning effort; omitted ones are the agent's. An unsupported parameter is rejected,
 * or dropped with a warning in the log.
 */
export interface ModelParameters {
  readonly temperature?: number;
  /** Maximum length of a reply, in tokens. */
  readonly maxTokens?: number;
  readonly topP?: number;
  readonly frequencyPenalty?: number;
  readonly presencePenalty?: number;
  /** Stop sequences: the reply ends before the first of them. */
  readonly stop?: readonly string[];
  /** The same seed returns the same reply, if the provider supports it. */
  readonly seed?: number;
  /** Reasoning effort, mapped to the nearest level of the model; 400 for a model without effort. */
  readonly effort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';
}

/** An image. */
export interface GivenImage {
  /**
   * An `https://` URL, which the provider fetches, or a data URI of a PNG, JPEG, GIF or WebP:
   * `data:image/png;base64,…`.
   */
  readonly url: string;
}

/** One step of the agent's loop. */
export interface AgentStep {
  /** The model call of the step, from 1. */
  readonly iteration: number;
  readonly thought: string;
  /** A tool's name, or `finish`. */
  readonly action: string;
  /** Arguments of the tool call, including a person's edits; `null` for `finish`. */
  readonly action_input: unknown;
  readonly is_finished: boolean;
}

/** Outcome of one tool call: `result` if it succeeded, else `error`. */
export interface AnsweredTool {
  readonly tool: string;
  readonly success: boolean;
  /** Left out in a workflow's run where it is the output of a node. */
  readonly result?: unknown;
  /** The node of a workflow that made the call. */
  readonly node?: string;
  /** Bytes of a result (UTF-8 JSON) that is too large to be in the answer. */
  readonly result_bytes?: number;
  /** Where such a result can be read. */
  readonly result_url?: string;
  /** Binary content in the result, if any. */
  readonly files?: readonly RunFile[];
  /** Images in the result, if any. */
  readonly images?: readonly ToldImage[];
  /** The number of its other images: too many, too large, or no PNG, JPEG, GIF or WebP. */
  readonly images_left_out?: number;
  readonly error?: string;
  readonly execution_time_ms: number;
  /** The child run, if the call was to another agent. */
  readonly child_run_id?: string;
}

/** Tokens, summed over the run's model calls. */
export interface RunUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  /** Prompt tokens that the provider read from its cache, if it reports them. */
  readonly cached_tokens?: number;
  /** Prompt tokens that the provider wrote to its cache, if it reports them. */
  readonly cache_write_tokens?: number;
  /** Completion tokens used for reasoning, if the provider reports them. */
  readonly reasoning_tokens?: number;
  /** Cost of the calls whose model has a price, in the unit of `LLM_PRICES`, to a billionth. */
  readonly cost?: number;
}

/** Another agent and its run. */
export interface AnsweredBy {
  readonly agent: string;
  readonly run_id: string;
}

/** The part of the session's history that the run received. */
export interface MemoryState {
  /** Messages of the session before this run. */
  readonly message_count: number;
  /** Tokens of the messages that the model received, including a summary. */
  readonly context_tokens: number;
  /** Number of messages that the model did not receive. */
  readonly dropped: number;
  /** Name of the agent's memory policy; `none` if it has no memory. */
  readonly policy: string;
  /** The token budget of the run. */
  readonly max_context_tokens?: number;
  /** Turns that the model received shortened, oldest first. */
  readonly shortened?: readonly ShortenedTurn[];
  /** The parts of a long run that its last requests left out. */
  readonly compacted?: CompactedState;
  /** For each turn in the request's `references`, the part that the model received. */
  readonly references?: readonly ReferenceState[];
}

/** A pending decision: one decision about one call. */
export interface WaitingRequest {
  /** Unique in the run. */
  readonly id: string;
  /**
   * `approval` (answer with approve or deny), `input`, `outcome_unknown` (answer with settle), `child` (decide in
   * that run), or `restored` (release the run).
   */
  readonly kind: 'approval' | 'input' | 'outcome_unknown' | 'child' | 'restored';
  /** The waiting step, such as `tool:1:2`; empty with the kind `restored`, as are the call and the tool. */
  readonly step: string;
  readonly call_id: string;
  readonly tool: string;
  /** JSON text. */
  readonly arguments: string;
  /** Why the call needs approval, why its outcome is unknown, or the reason of the waiting child run. */
  readonly reason?: string;
  /** The facts by which the call waits; with the kind `approval` only. */
  readonly facts?: readonly WaitFact[];
  /** Settings that would change the decision; with `facts` only. */
  readonly settings?: readonly string[];
  /** Coverage of an approval with a wider `scope`; only if the call waits by the rule of three facts alone. */
  readonly covers?: Coverage;
  /** Whether only a second person may approve; with the kind `approval` only. */
  readonly by_another?: boolean;
  /** Only principals with one of these roles may approve; with the kind `approval` only. */
  readonly by_roles?: readonly string[];
  /** The tool's question. */
  readonly question?: string;
  /** JSON Schema of the answer. */
  readonly schema?: Readonly<Record<string, unknown>>;
  /** The child run; with the kind `child` only. */
  readonly child_run_id?: string;
  /** Expiry time of the request, epoch ms; `null` for never. */
  readonly expires_at: number | null;
}

/** Outcome of a workflow node. */
export interface AnsweredNode {
  /** The node's id; `<id>/<n>` for the n-th item of a map, counted from 1. */
  readonly node: string;
  readonly kind: 'tool' | 'llm' | 'agent' | 'code' | 'branch' | 'map' | 'human';
  /** `skipped`: no path led to the node. */
  readonly status: 'running' | 'completed' | 'failed' | 'skipped';
  readonly output?: unknown;
  /** Bytes of an output (UTF-8 JSON) that is too large to be in the answer of the run. */
  readonly output_bytes?: number;
  /** Where the node can be read with such an output. */
  readonly output_url?: string;
  readonly error?: AnsweredRunFailure;
  /** Nodes that a branch continued with. */
  readonly next?: readonly string[];
  /** The child run, if the node called an agent. */
  readonly child_run_id?: string;
}

/** Why a run failed. */
export interface AnsweredRunFailure {
  readonly code: string;
  readonly message: string;
  /** Whether the same request may succeed if it is retried. */
  readonly is_retryable: boolean;
}

/** The agent's model. */
export interface AgentModel {
  readonly provider: string;
  readonly name: string;
  /** Parameters that the agent sets, such as `temperature`, `maxTokens` and `topP`. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** A declared MCP server, and whether its tools are enabled for the agent. */
export interface AgentMcpServer {
  readonly name: string;
  readonly enabled: boolean;
}

/** The part of the session's history that a run receives. */
export interface AgentMemory {
  readonly enabled: boolean;
  readonly policy: string;
  readonly max_messages: number;
  readonly max_context_tokens: number;
}

/** Limits of a run. */
export interface AgentLimits {
  /** Maximum number of model calls in a run. */
  readonly max_iterations: number;
  /** Maximum duration of one execution of a run, in ms. */
  readonly run_timeout_ms: number;
  /** Maximum size of one tool result, in UTF-8 bytes; longer results are cut. */
  readonly max_result_bytes: number;
  /** Maximum depth of nested runs, where the agent's tools are agents. */
  readonly max_depth: number;
  /** Maximum number of tools that its model gets from the start; of more tools, some are deferred. */
  readonly max_tools: number;
  /** The same for the tokens of their names, descriptions and schemas. */
  readonly max_tool_tokens: number;
}

/** Spending limits of the agent, in addition to the limits of all agents. */
export interface AgentBudgets {
  /** Per run, including its child runs. */
  readonly run?: AgentBudget;
  /** Per session. */
  readonly session?: AgentBudget;
  /** Per tenant and day. */
  readonly tenant_day?: AgentBudget;
  /** Per day, over all runs of the agent. */
  readonly day?: AgentBudget;
}

/** A run in a list. Times are epoch ms. */
export interface ListedRun {
  readonly run_id: string;
  /** `agent`, `workflow` or `tool` (a direct call). */
  readonly kind: string;
  readonly status: 'running' | 'completed' | 'failed' | 'cancelled' | 'queued' | 'waiting';
  readonly agent: string;
  readonly session_id: string | null;
  readonly created_at: number;
  /** `null` for an unfinished run. */
  readonly finished_at: number | null;
  /** The original run of a fork. */
  readonly forked_from: string | null;
  /** The parent run; `null` for a run without one. */
  readonly parent_run_id: string | null;
  /** Time of the deletion of its journal; only these fields remain. */
  readonly pruned_at: number | null;
  /** `null` for an unfinished run. */
  readonly finish_reason: string | null;
  /** `null` for an unfinished run. */
  readonly usage: null | RunUsage;
  /** The error code of a failed run. */
  readonly error_code: string | null;
  /** The message of that error. */
  readonly error_message?: string;
  /**
   * The first 200 UTF-16 units of the question; of a workflow run its input, of a direct call its arguments, as
   * JSON. `null` for runs from before the upgrade to this version, and after the deletion of the journal.
   */
  readonly query_preview: string | null;
  /** Number of decisions for which a waiting run waits; those of a child run count there. */
  readonly pending: number;
  /** Why an accepted run is queued again: its provider is unavailable, with the code of the error. */
  readonly queued_reason?: string;
  /** Time of its next attempt. */
  readonly next_attempt_at?: number;
  /** Present if the stored end or question of the run is damaged, and its fields are `null`. */
  readonly is_damaged?: boolean;
}

/** A recorded step. Times are epoch ms. */
export interface JournalStep {
  /** Counted from 1, in the order of the loop. */
  readonly position: number;
  /** The `fromStep` of a fork, such as `model:1` or `tool:1:2`. */
  readonly name: string;
  readonly kind: string;
  /** The step's model or tool. */
  readonly subject: string;
  /** Any JSON value. */
  readonly result: unknown;
  /** The execution of the run that recorded the step, from 1; 0 for a step copied from another run. */
  readonly epoch: number;
  /** When the step was recorded, at the end of its action. */
  readonly created_at: number;
  /** Start of the action; `null` for a step without one, and for steps from before the upgrade to this version. */
  readonly started_at: number | null;
  /** Time from the start to the first text of a streamed reply, in ms. */
  readonly first_token_ms: number | null;
  /** Of a model call: the requests to providers, with retries and fallbacks. */
  readonly attempts: number | null;
}

/** A recorded event. Times are epoch ms. */
export interface JournalEvent {
  /** Number of the event in the run's stream. */
  readonly n: number;
  /** A recorded `RunEventType`. */
  readonly type: string;
  /** The event as in the stream. */
  readonly data: unknown;
  readonly created_at: number;
}

/** The identity that started an exported run. */
export interface ExportedPrincipal {
  readonly id: string;
  readonly tenant: string;
  readonly roles: readonly string[];
  readonly scopes?: readonly string[];
}

/** The request of a model call of an exported run. */
export interface ExportedRequest {
  readonly step: string;
  /** `provider`: the body for the provider's API. `model`: the request to a model without such an API. */
  readonly form: 'provider' | 'model';
  /** As JSON, rebuilt with the configuration of the exporting server. */
  readonly body: unknown;
  /** `provider:model`. */
  readonly model?: string;
  /** As the model received it; absent for the form `model`, whose `body` it is. */
  readonly request?: unknown;
  /** SHA-256 (base64url) of `body` as JSON; `null` for the form `model`. */
  readonly hash: string | null;
  /** SHA-256 of the body that was sent last; `null` if none was sent. */
  readonly sent_hash: string | null;
}

/** The decision of the exporting server about a recorded tool call. */
export interface ExportedCall {
  readonly step: string;
  readonly tool: string;
  /** JSON text; the arguments of the person who approved the call, if that person edited them. */
  readonly arguments: string;
  readonly decision: 'run' | 'approval' | 'rejected';
  /** Whether an approval for a run or a session may cover the call. */
  readonly isCoverable?: boolean;
  /** Error code of a rejected call. */
  readonly code?: string;
  /** Why the call needs approval or is rejected. */
  readonly reason?: string;
  /** The validated arguments; absent for a rejected call. */
  readonly input?: unknown;
}

/** A file of an exported run. */
export interface ExportedFile {
  /** Number of the file in the run. */
  readonly n: number;
  readonly media_type: string;
  /** Base64. */
  readonly data: string;
  readonly name?: string;
  /** The text before the base64 from which the file was read. */
  readonly prefix?: string;
}

/** Changes in the new run. */
export interface ForkEdit {
  /** The user's new message; only from `model:1`. */
  readonly message?: string;
  readonly model?: ForkModel;
  /** New result of the step's call, any JSON value; only from a tool step. */
  readonly toolResult?: unknown;
  /** New input of a workflow; only for a workflow run, from `input`. */
  readonly input?: object;
  /**
   * New output of the step's node, any JSON value (`{ "to": "…" }` for a branch); only for a workflow run, from a
   * node.
   */
  readonly output?: unknown;
  /** Name of another agent, or changes to the original one: `instructions`, `tools` (fewer), `memory`, `limits`. */
  readonly agent?: unknown;
}

/** A run as a line of a dataset. */
export interface DatasetLine {
  /** The id of the run. */
  readonly id: string;
  /** The question to the agent, or the input of the workflow. */
  readonly input: unknown;
  /** The newest correction, else the answer of the run. */
  readonly expected: unknown;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** A request that waits for a person. Times are epoch ms. */
export interface ListedRequest {
  readonly run_id: string;
  readonly session_id: string | null;
  readonly agent: string;
  /** Start of the run. */
  readonly created_at: number;
  readonly waiting_since: number;
  /**
   * Whether the scopes of the caller and the approval rule permit a decision; policies are checked with the
   * decision.
   */
  readonly may_decide: boolean;
  readonly request: WaitingRequest;
}

/** A message in its turn. Times are epoch ms. */
export interface Message {
  readonly turn: number;
  /** Status of the turn; a failed or cancelled turn may lack an answer. */
  readonly turn_status: 'completed' | 'failed' | 'cancelled';
  readonly run_id: string;
  /** Present if the turn is pinned. */
  readonly is_pinned?: boolean;
  readonly role: 'tool' | 'user' | 'system' | 'assistant';
  readonly content: string | readonly (TextPart | ImagePart)[];
  /** Tool calls of an assistant message. */
  readonly tool_calls?: readonly MessageCall[];
  /** The call that a tool message answers. */
  readonly tool_call_id?: string;
  /** The tool of a tool message. */
  readonly name?: string;
  /** Images in the tool's result. */
  readonly images?: readonly MessageImage[];
  /** Metadata of the message. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly created_at: number;
}

/** A model whose requests omit a tool, since the format of its provider cannot express it. */
export interface ToolOmission {
  /** As `provider:model`. */
  readonly model: string;
  readonly reason: string;
}

/** A suspicious part of a tool's definition. */
export interface ToolWarning {
  /** A JSON pointer into the definition. */
  readonly at: string;
  readonly what: string;
}

/** How calls of a tool are handled. */
export interface ToolMetadata {
  /** `never`, `always`, or `sometimes` (depends on the arguments). */
  readonly approval: 'never' | 'always' | 'sometimes';
  /** Whether a call can carry data out of the application. */
  readonly egress: boolean;
  /** Whether results may contain untrusted content. */
  readonly untrusted: boolean;
  /** Whether results are private data. */
  readonly private: boolean;
  /** Maximum number of retries of a failed call. */
  readonly retries: number;
  /** Maximum duration of one call, in ms; if absent, the run's limit applies. */
  readonly timeout_ms?: number;
  /** Time for which a cached result serves the same call, in ms. */
  readonly cache_ttl_ms?: number;
  /** Maximum number of concurrent calls per process. */
  readonly concurrency?: number;
  /** Maximum time that a call waits in the queue, in ms. */
  readonly queue_timeout_ms?: number;
}

/** Binary content of a tool's result, to which its text refers as `[file 1: …]`. */
export interface RunFile {
  /** Number of the file in its run: `GET /api/runs/{id}/files/{n}` returns the content. */
  readonly n: number;
  readonly media_type: string;
  readonly bytes: number;
  /** Name or address that the tool gave. */
  readonly name?: string;
}

/** An image in a tool's result: its URL, or its type and size if it is data. */
export interface ToldImage {
  readonly media_type?: string;
  readonly bytes?: number;
  readonly url?: string;
  /** Number of the file that holds the data. */
  readonly file?: number;
}

/** A tool whose listed definition, or whose annotations, wait for a person. */
export interface McpQuarantine {
  /** The tool's name on the server. */
  readonly tool: string;
  /**
   * `changed` after its acceptance, `new` on a known server, `suspicious`, or `hints`: its definition is in use,
   * but annotations that loosen its handling are not.
   */
  readonly reason: 'changed' | 'new' | 'suspicious' | 'hints';
  /** Whether models do not receive the tool; otherwise they receive the definition in use. */
  readonly hidden: boolean;
  readonly findings: readonly McpFinding[];
  /** From the definition in use to the listed one, at most 50. */
  readonly differences: readonly McpDifference[];
  /** The annotations that take effect, if they differ from those of the definition in use. */
  readonly hints: Readonly<Record<string, unknown>> | null;
  /** The definition in use; `null` before the first acceptance. */
  readonly accepted: null | McpPinned;
  /** The listed definition. */
  readonly pending: McpPinned;
}

/** Total usage of model calls. */
export interface UsageSum {
  /** Number of calls whose provider reported its usage. */
  readonly calls: number;
  readonly usage: RunUsage;
}

/** Total usage of one day, session, agent, model or tenant. */
export interface UsageEntry {
  /**
   * The day (UTC), the session's id, the name of the agent, model or tenant; `null` for calls without a session or
   * agent.
   */
  readonly key: string | null;
  /** Number of calls whose provider reported its usage. */
  readonly calls: number;
  readonly usage: RunUsage;
}

/** A node of a workflow. Prompts and instructions are not published. */
export interface WorkflowNode {
  readonly id: string;
  readonly type: 'tool' | 'llm' | 'agent' | 'code' | 'branch' | 'map' | 'human';
  readonly description?: string;
  /** Name of its agent, tool or code. */
  readonly uses?: string;
}

/** An edge from one node to another. */
export interface WorkflowEdge {
  readonly from: string;
  readonly to: string;
  /** `fallback`: taken if the node fails. */
  readonly kind: 'branch' | 'next' | 'fallback';
}

/** An API key, without the key itself. Times are epoch ms. */
export interface Key {
  /** Also the id of the key's principal. */
  readonly id: string;
  readonly name: string;
  readonly role: 'user' | 'admin' | 'viewer' | 'operator';
  readonly scopes: readonly string[];
  readonly visibility: 'own' | 'all';
  readonly created_at: number;
  /** Id of the principal who created the key. */
  readonly created_by: string;
  /** `null` if the key never expires. */
  readonly expires_at: number | null;
  /** `null` if the key is not revoked. */
  readonly revoked_at: number | null;
  /** To the minute; `null` if the key was never used. */
  readonly last_used_at: number | null;
}

export interface NodeCompleted {
  readonly type: 'node.completed';
  /** `skipped`: no path led to the node. */
  readonly status: 'completed' | 'failed' | 'skipped';
  readonly output?: unknown;
  /** With `failed` only. */
  readonly error?: RunFailure;
  /** The nodes that a branch selected. */
  readonly next?: readonly string[];
  /** The node's id; `<id>/<n>` for the n-th item of a map, counted from 1. */
  readonly node: string;
  readonly kind: 'tool' | 'llm' | 'agent' | 'code' | 'branch' | 'map' | 'human';
  /** The node's position in the workflow's list, counted from 1; also the `iteration` of its model and tool events. */
  readonly iteration: number;
}

export interface RunStarted {
  readonly type: 'run.started';
  readonly run_id: string;
  readonly session_id: string | null;
  readonly agent: string;
  /** The calling run. */
  readonly parent_run_id?: string;
  /** Selected MCP servers that are not connected: the run has no tools of them. */
  readonly missing_mcp_servers?: readonly string[];
}

export interface RunResumed {
  readonly type: 'run.resumed';
  readonly run_id: string;
  readonly attempt: number;
}

export interface RunWaiting {
  readonly type: 'run.waiting';
  readonly run_id: string;
  /** The kind of the first request. */
  readonly reason: 'approval' | 'input' | 'outcome_unknown' | 'child' | 'restored';
  readonly requests: readonly WaitingRequest[];
}

/** Outcome of a human decision request; with `approved`, the approval may cover later calls. */
export interface PolicyDecided {
  readonly type: 'policy.decided';
  readonly run_id: string;
  readonly request_id: string;
  readonly call_id: string;
  readonly tool: string;
  readonly decision: 'approved' | 'denied' | 'answered' | 'settled' | 'released' | 'expired';
  /** The id of the principal who decided; `null` for an expiry, and for an outcome that another process reported. */
  readonly by: string | null;
  /** The reason of a denial. */
  readonly reason?: string;
  /** Whether a person changed the arguments of the call; with `approved` only. */
  readonly arguments_edited?: boolean;
  readonly scope?: 'session' | 'run';
  readonly approval_id?: string;
}

/**
 * The automatic decision of a configured policy on a call, a result or a text, or of an earlier approval;
 * without the content.
 */
export interface PolicyApplied {
  readonly type: 'policy.decided';
  /** The policy's name: `tools`, `arguments`, `rate-limit`, `taint`, `content`, or one of the application's own. */
  readonly policy: string;
  readonly on: 'call' | 'input' | 'result' | 'output';
  readonly decision: 'approval' | 'denied' | 'allowed' | 'limited' | 'masked' | 'blocked';
  /** 0 for the input. */
  readonly iteration: number;
  readonly call_id?: string;
  readonly tool?: string;
  readonly reason?: string;
  /** The kinds of content that were masked or blocked; with the policy `content` only. */
  readonly found?: readonly string[];
  /** When the limit resets, epoch ms; with `limited` only. */
  readonly resets_at?: number;
  readonly scope?: 'session' | 'run';
  readonly approval_id?: string;
}

export interface RunCompleted {
  readonly type: 'run.completed';
  readonly run_id: string;
  /** The answer's text; the last text when the run ended early. */
  readonly result: string;
  /** The answer as a JSON value if it has an output format, only for a complete run; the output of a workflow. */
  readonly output?: unknown;
  readonly finish_reason: 'stop' | 'length' | 'content_filter' | 'iteration_limit' | 'timeout' | 'cancelled' | 'error';
  readonly is_complete: boolean;
  readonly iterations: number;
  readonly usage: RunUsage;
  /** The model of the last reply; the requested model if there was no reply. */
  readonly model: string;
  /** Set if the run, or the part of the session it received, contains untrusted content. */
  readonly is_tainted?: boolean;
  /** Facts of the data that the run has read, with their sources. */
  readonly data_facts?: readonly DataFact[];
  /** Usage of all descendant runs; not included in `usage`. */
  readonly children_usage?: RunUsage;
  /** The agent that answered, after a handoff. */
  readonly answered_by?: AnsweredBy;
  /** Only of a run that loaded its session. */
  readonly memory_state?: MemoryState;
}

export interface RunFailed {
  readonly type: 'run.failed';
  readonly run_id: string;
  readonly error: RunFailure;
  /** The answer's text; the last text when the run ended early. */
  readonly result: string;
  /** The answer as a JSON value if it has an output format, only for a complete run; the output of a workflow. */
  readonly output?: unknown;
  readonly finish_reason: 'stop' | 'length' | 'content_filter' | 'iteration_limit' | 'timeout' | 'cancelled' | 'error';
  readonly is_complete: boolean;
  readonly iterations: number;
  readonly usage: RunUsage;
  /** The model of the last reply; the requested model if there was no reply. */
  readonly model: string;
  /** Set if the run, or the part of the session it received, contains untrusted content. */
  readonly is_tainted?: boolean;
  /** Facts of the data that the run has read, with their sources. */
  readonly data_facts?: readonly DataFact[];
  /** Usage of all descendant runs; not included in `usage`. */
  readonly children_usage?: RunUsage;
  /** The agent that answered, after a handoff. */
  readonly answered_by?: AnsweredBy;
  /** Only of a run that loaded its session. */
  readonly memory_state?: MemoryState;
}

export interface RunCancelled {
  readonly type: 'run.cancelled';
  readonly run_id: string;
  /** The answer's text; the last text when the run ended early. */
  readonly result: string;
  /** The answer as a JSON value if it has an output format, only for a complete run; the output of a workflow. */
  readonly output?: unknown;
  readonly finish_reason: 'stop' | 'length' | 'content_filter' | 'iteration_limit' | 'timeout' | 'cancelled' | 'error';
  readonly is_complete: boolean;
  readonly iterations: number;
  readonly usage: RunUsage;
  /** The model of the last reply; the requested model if there was no reply. */
  readonly model: string;
  /** Set if the run, or the part of the session it received, contains untrusted content. */
  readonly is_tainted?: boolean;
  /** Facts of the data that the run has read, with their sources. */
  readonly data_facts?: readonly DataFact[];
  /** Usage of all descendant runs; not included in `usage`. */
  readonly children_usage?: RunUsage;
  /** The agent that answered, after a handoff. */
  readonly answered_by?: AnsweredBy;
  /** Only of a run that loaded its session. */
  readonly memory_state?: MemoryState;
}

export interface MessageCompleted {
  readonly type: 'message.completed';
  readonly iteration: number;
  readonly text: string;
  readonly finish_reason: string;
  readonly tool_calls: readonly {
    readonly id: string;
    readonly name: string;
    readonly arguments: string;
  }[];
  /** Duration of the model call with its retries, in ms; only of a reply of a model. */
  readonly execution_time_ms?: number;
  /** The author, if it is not the run's own agent. */
  readonly answered_by?: AnsweredBy;
}

export interface Thought {
  readonly type: 'thought';
  readonly iteration: number;
  readonly text: string;
}

export interface ToolStarted {
  readonly type: 'tool.started';
  readonly iteration: number;
  readonly call_id: string;
  readonly tool: string;
  /** The arguments as the model wrote them, or as a person edited them. */
  readonly arguments: string;
  /** The call's child run, if it has one. */
  readonly child_run_id?: string;
}

export interface ToolCompleted {
  readonly type: 'tool.completed';
  readonly iteration: number;
  readonly call_id: string;
  readonly tool: string;
  readonly success: boolean;
  readonly result?: unknown;
  /** The original length in bytes (UTF-8); only of a truncated result. */
  readonly result_bytes?: number;
  /** Binary content of the result, which its text refers to as `[file 1: …]`. */
  readonly files?: readonly PublishedFile[];
  /** The images of the result. */
  readonly images?: readonly PublishedImage[];
  /** The number of its other images: too many, too large, or no PNG, JPEG, GIF or WebP. */
  readonly images_left_out?: number;
  readonly error?: string;
  readonly code?: string;
  readonly execution_time_ms: number;
  readonly child_run_id?: string;
}

/** A call changed its tool's state; `GET /api/tool-states/:contextId` returns the new state. */
export interface StateChanged {
  readonly type: 'state.changed';
  readonly iteration: number;
  readonly call_id: string;
  readonly tool: string;
  readonly context_id: string;
}

export interface NodeStarted {
  readonly type: 'node.started';
  /** The node's child run, if it has one. */
  readonly child_run_id?: string;
  /** The node's id; `<id>/<n>` for the n-th item of a map, counted from 1. */
  readonly node: string;
  readonly kind: 'tool' | 'llm' | 'agent' | 'code' | 'branch' | 'map' | 'human';
  /** The node's position in the workflow's list, counted from 1; also the `iteration` of its model and tool events. */
  readonly iteration: number;
}

export interface UsageReported {
  readonly type: 'usage';
  /** 0 for the summary of earlier turns, before the loop. */
  readonly iteration: number;
  readonly model: string;
  /** Only of a model call that the tool of this call made. */
  readonly call_id?: string;
  /** Duration of the call, with retries, in ms. Absent for a call outside the loop. */
  readonly execution_time_ms?: number;
  /** Time to the first text of a streamed reply, in ms. */
  readonly first_token_ms?: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  /** Prompt tokens that the provider read from its cache, if reported. */
  readonly cached_tokens?: number;
  /** Prompt tokens that the provider wrote to its cache, if reported. */
  readonly cache_write_tokens?: number;
  /** Completion tokens of hidden reasoning, if reported. */
  readonly reasoning_tokens?: number;
  /** Sum over the calls of models with a price, in the unit of `LLM_PRICES`. */
  readonly cost?: number;
}

/** A model call failed, and the next model was called; both as `provider:model`. */
export interface ModelSwitched {
  readonly type: 'model.switched';
  readonly iteration: number;
  readonly from: string;
  readonly to: string;
  /** The error's code. */
  readonly code: string;
  /** Parameters that the next model does not support: they are not part of its request. */
  readonly dropped?: readonly string[];
}

/** The reply came from the cache. */
export interface ModelCached {
  readonly type: 'model.cached';
  readonly iteration: number;
  readonly model: string;
}

/**
 * The requests of a long run leave out a part of it: notes replace tool results, a summary replaces messages.
 * The run itself and its session remain whole.
 */
export interface ContextCompacted {
  readonly type: 'context.compacted';
  /** The iteration whose request was too long. */
  readonly iteration: number;
  /** Whether it exceeded a share of the model's context window, or the provider refused it. */
  readonly cause: 'window' | 'refused';
  /** Estimated tokens of the request before and after. */
  readonly tokens_before: number;
  readonly tokens_after: number;
  /** Tool results with a note in their place; the model can read them with a tool. */
  readonly results: number;
  /** Messages with a summary in their place. */
  readonly messages: number;
}

/**
 * The run uses its history in a repaired form; the stored turns do not change. Either turns are damaged, and the
 * run uses their valid parts; or the provider refused a request with earlier images, and notes replace these.
 */
export interface HistoryRepaired {
  readonly type: 'history.repaired';
  readonly session_id: string | null;
  /** Numbers of the damaged turns; empty when only images were refused. */
  readonly turns: readonly number[];
  /** The iteration whose request was refused. */
  readonly iteration?: number;
  /** The number of images that notes replace. */
  readonly images?: number;
}

export interface StepStarted {
  readonly type: 'step.started';
  readonly step: string;
}

export interface MessageDelta {
  readonly type: 'message.delta';
  readonly iteration: number;
  readonly text: string;
}

/** The model call is repeated: earlier deltas of this message are void, `text` is the text so far. */
export interface StepRestarted {
  readonly type: 'step.restarted';
  readonly iteration: number;
  readonly text: string;
}

/** Progress of a call, as reported by its tool. */
export interface ToolProgressed {
  readonly type: 'tool.progress';
  readonly iteration: number;
  readonly call_id: string;
  readonly tool: string;
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** This server ends the stream before the run has ended; the client reconnects with its last event id. */
export interface StreamClosed {
  readonly type: 'stream.closed';
  readonly run_id: string;
  readonly code: string;
}

/** A turn that the model received only in part. */
export interface ShortenedTurn {
  readonly turn: number;
  /**
   * `shortened`: texts were cut or rounds of calls omitted. `question_and_answer`: everything between the two was
   * omitted.
   */
  readonly form: 'shortened' | 'question_and_answer';
  /** Omitted messages of the turn. */
  readonly dropped_messages: number;
  /** UTF-16 units cut from the other messages. */
  readonly omitted_characters: number;
}

/** The parts of a run that its requests leave out. */
export interface CompactedState {
  /** Number of tool results with a note in their place. */
  readonly results: number;
  /** Number of messages with a summary in their place. */
  readonly messages: number;
}

/** The part of a referenced turn that the model received. */
export interface ReferenceState {
  readonly turn: number;
  /** `summarised`: only a summary covers it. */
  readonly seen: 'shortened' | 'whole' | 'summarised' | 'dropped';
}

/** A fact by which a call waits, with its source. */
export interface WaitFact {
  /** `untrusted` content and `private` data of the run; `out`: the call can carry data out or change something. */
  readonly fact: 'untrusted' | 'private' | 'out';
  /**
   * The step that is the source, such as `tool:1:2`; or `input`, `history`, `import`, `definitions`, `state`,
   * `unknown`.
   */
  readonly step: string;
  readonly tool?: string;
  /** The MCP server or REST API of the data. */
  readonly origin?: string;
  /** The run of the step, if it is another one. */
  readonly run_id?: string;
}

/** Coverage of an approval with the scope `run` or `session`. */
export interface Coverage {
  /** SHA-256 (hex) of the tool's definition. */
  readonly definition: string;
  /** Hosts and e-mail addresses in the arguments, in lower case; later calls may contain no others. */
  readonly addresses: readonly string[];
}

/** Spending limits. */
export interface AgentBudget {
  readonly tokens?: number;
  /** In the unit of `LLM_PRICES`. */
  readonly cost?: number;
}

/** The model of the new run. */
export interface ForkModel {
  /** As in `LLM_PROVIDER`; if omitted, the original run's. */
  readonly provider?: string;
  /** If omitted, the original run's, or the default of `provider`. */
  readonly name?: string;
  /** `temperature`, `maxTokens`, `topP`, `frequencyPenalty`, `presencePenalty`, `stop`, `seed`, `effort`. */
  readonly parameters?: object;
}

export interface TextPart {
  readonly type: 'text';
  readonly text: string;
}

/** An image: an https URL, or a base64 data URI of a PNG, JPEG, GIF or WebP. */
export interface ImagePart {
  readonly type: 'image';
  readonly url: string;
}

/** A tool call as the model wrote it. */
export interface MessageCall {
  readonly id: string;
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
}

/** An image of a tool message. */
export interface MessageImage {
  readonly type: 'image';
  /** An HTTPS URL or a data URI. */
  readonly url: string;
}

/** A suspicious part of a tool's definition. */
export interface McpFinding {
  /** A JSON pointer into the definition. */
  readonly at: string;
  readonly what: string;
  /** Whether it hides the tool; otherwise it is a warning. */
  readonly hides: boolean;
}

/** A difference of two definitions. */
export interface McpDifference {
  /** A JSON pointer into the definition. */
  readonly at: string;
  /** JSON text, cut after 500 characters; absent if only the other definition has the value. */
  readonly before?: string;
  readonly after?: string;
}

/** A tool's definition as the server gives it. */
export interface McpPinned {
  /** SHA-256, hex. */
  readonly digest: string;
  readonly definition: Readonly<Record<string, unknown>>;
}

/** Error of a run or of a part of it; wire form. */
export interface RunFailure {
  readonly code: string;
  readonly message: string;
  readonly is_retryable: boolean;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** A fact about the data that a run contains, with its source. Wire format. */
export interface DataFact {
  /** `untrusted`: content that may hold instructions of others; `private`: data that must not leave unnoticed. */
  readonly fact: 'untrusted' | 'private';
  /** The step that read it (`tool:2:1`), or `input`, `history`, `memory`, `import`, `definitions` or `unknown`. */
  readonly step: string;
  readonly tool?: string;
  /** The MCP server or REST document to which private data belongs. */
  readonly origin?: string;
  /** The run of the step, if it is another one. */
  readonly run_id?: string;
}

/** The metadata of a file; wire form. */
export interface PublishedFile {
  /** Unique in the run: `GET /api/runs/:id/files/:n` returns the content. */
  readonly n: number;
  readonly media_type: string;
  readonly bytes: number;
  readonly name?: string;
}

/** An image of a tool result as shown in events: its address or its metadata, not its data; wire form. */
export interface PublishedImage {
  /** Of inline data; so is `bytes`. */
  readonly media_type?: string;
  readonly bytes?: number;
  readonly url?: string;
  /** Of inline data: `GET /api/runs/:id/files/:n` returns the image with this number. */
  readonly file?: number;
}

/** Parameters, body and answer of each operation; `undefined` if it has none. */
export interface Operations {
  readonly chat: {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: ChatRequest;
    readonly answer: ChatAnswer;
  };
  readonly streamChat: {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: ChatRequest;
    readonly answer: undefined;
  };
  readonly startRun: {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: BackgroundRequest;
    readonly answer: RunAnswer;
  };
  readonly listAgents: {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: undefined;
    readonly answer: AgentList;
  };
  readonly getAgent: {
    readonly path: {
      readonly name: string;
    };
    readonly query: undefined;
    readonly body: undefined;
    readonly answer: Agent;
  };
  readonly listRuns: {
    readonly path: undefined;
    readonly query: {
      /** One or more of `queued`, `running`, `waiting`, `completed`, `failed` and `cancelled`, comma-separated. */
      readonly status?: string;
      /** Name of an agent. */
      readonly agent?: string;
      /** Kind of the runs: `agent`, `workflow` or `tool` (a direct call). */
      readonly kind?: string;
      readonly sessionId?: string;
      /** Code of the error of failed runs. Runs that failed before the upgrade to this version do not match. */
      readonly errorCode?: string;
      /** A part of the `query_preview`, in any letter case. */
      readonly text?: string;
      /** The `next` of the previous page. */
      readonly cursor?: string;
      /** Maximum number of runs in the page. */
      readonly limit?: number;
      /** Start of the range, inclusive: epoch ms, or ISO 8601 with a time zone; a date alone is its midnight, UTC. */
      readonly from?: string;
      /** End of the range, exclusive. */
      readonly to?: string;
    };
    readonly body: undefined;
    readonly answer: RunPage;
  };
  readonly getRun: {
    readonly path: {
      readonly id: string;
    };
    readonly query: undefined;
    readonly body: undefined;
    readonly answer: RunAnswer;
  };
  readonly streamRunEvents: {
    readonly path: {
      readonly id: string;
    };
    readonly query: undefined;
    readonly body: undefined;
    readonly answer: undefined;
  };
  readonly cancelRun: {
    readonly path: {
      readonly id: string;
    };
    readonly query: undefined;
    readonly body: undefined;
    readonly answer: RunAnswer;
  };
  readonly getRunJournal: {
    readonly path: {
      readonly id: string;
    };
    readonly query: {
      /** End of the previous page: the position of a step and the number of an event. */
      readonly after?: number;
      /** Maximum number of steps, and of events, in the page. */
      readonly limit?: number;
    };
    readonly body: undefined;
    readonly answer: RunJournal;
  };
  readonly exportRun: {
    readonly path: {
      readonly id: string;
    };
    readonly query: undefined;
    readonly body: undefined;
    readonly answer: RunExport;
  };
  readonly forkRun: {
    readonly path: {
      readonly id: string;
    };
    readonly query: undefined;
    readonly body: ForkRequest;
    readonly answer: RunAnswer;
  };
  readonly approveRun: {
    readonly path: {
      readonly id: string;
    };
    readonly query: undefined;
    readonly body: ApproveRequest | undefined;
    readonly answer: RunAnswer;
  };
  readonly denyRun: {
    readonly path: {
      readonly id: string;
    };
    readonly query: undefined;
    readonly body: DenyRequest | undefined;
    readonly answer: RunAnswer;
  };
  readonly answerRun: {
    readonly path: {
      readonly id: string;
    };
    readonly query: undefined;
    readonly body: InputRequest;
    readonly answer: RunAnswer;
  };
  readonly settleRun: {
    readonly path: {
      readonly id: string;
    };
    readonly query: undefined;
    readonly body: SettleRequest;
    readonly answer: RunAnswer;
  };
  readonly releaseRun: {
    readonly path: {
      readonly id: string;
    };
    readonly query: undefined;
    readonly body: undefined;
    readonly answer: RunAnswer;
  };
  readonly createEval: {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: EvalRequest;
    readonly answer: Eval;
  };
  readonly listEvals: {
    readonly path: undefined;
    readonly query: {
      /** Name of the eval. */
      readonly name?: string;
      /** The `next` of the previous page. */
      readonly cursor?: string;
      /** Maximum number of evals in the page. */
      readonly limit?: number;
    };
    readonly body: undefined;
    readonly answer: EvalPage;
  };
  readonly getEval: {
    readonly path: {
      readonly id: string;
    };
    readonly query: undefined;
    readonly body: undefined;
    readonly answer: Eval;
  };
  readonly deleteEval: {
    readonly path: {
      readonly id: string;
    };
    readonly query: undefined;
    readonly body: undefined;
    readonly answer: undefined;
  };
  readonly giveFeedback: {
    readonly path: {
      readonly id: string;
    };
    readonly query: undefined;
    readonly body: FeedbackRequest | undefined;
    readonly answer: Feedback;
  };
  readonly getDataset: {
    readonly path: undefined;
    readonly query: {
      /** Name of an agent, or of a workflow as `workflow:name`. */
      readonly agent?: string;
      /** Lowest score. */
      readonly minScore?: number;
      /** Highest score. */
      readonly maxScore?: number;
      /** `true`: only feedback with a correction. */
      readonly corrected?: 'true' | 'false';
      /** Start of the range, inclusive: epoch ms, or ISO 8601 with a time zone; a date alone is its midnight, UTC. */
      readonly from?: string;
      /** End of the range, exclusive. */
      readonly to?: string;
      /** The `next` of the previous page. */
      readonly cursor?: string;
      /** Maximum number of runs in the page. */
      readonly limit?: number;
    };
    readonly body: undefined;
    readonly answer: DatasetPage;
  };
  readonly listWaiting: {
    readonly path: undefined;
    readonly query: {
      /** Kind of the requests. */
      readonly kind?: 'approval' | 'input' | 'outcome_unknown' | 'restored';
      /** Name of an agent. */
      readonly agent?: string;
      /** The `next` of the previous page. */
      readonly cursor?: string;
      /** Maximum number of runs in the page; a run can have several requests. */
      readonly limit?: number;
    };
    readonly body: undefined;
    readonly answer: WaitingPage;
  };
  readonly createSession: {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: SessionRequest | undefined;
    readonly answer: Session;
  };
  readonly listSessions: {
    readonly path: undefined;
    readonly query: {
      /** The `next` of the previous page. */
      readonly cursor?: string;
      /** Maximum number of sessions in the page. */
      readonly limit?: number;
    };
    readonly body: undefined;
    readonly answer: SessionPage;
  };
  readonly importSession: {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: SessionImportRequest;
    readonly answer: Session;
  };
  readonly getSession: {
    readonly path: {
      readonly id: string;
    };
    readonly query: undefined;
    readonly body: undefined;
    readonly answer: Session;
  };
  readonly deleteSession: {
    readonly path: {
      readonly id: string;
    };
    readonly query: undefined;
    readonly body: undefined;
    readonly answer: undefined;
  };
  readonly listMessages: {
    readonly path: {
      readonly id: string;
    };
    readonly query: {
      /** Number of the last turn of the previous page. */
      readonly after?: number;
      /** Maximum number of turns in the page. */
      readonly limit?: number;
    };
    readonly body: undefined;
    readonly answer: MessagePage;
  };
  readonly exportSession: {
    readonly path: {
      readonly id: string;
    };
    readonly query: undefined;
    readonly body: undefined;
    readonly answer: SessionExport;
  };
  readonly listTools: {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: undefined;
    readonly answer: ToolList;
  };
  readonly getTool: {
    readonly path: {
      readonly name: string;
    };
    readonly query: undefined;
    readonly body: undefined;
    readonly answer: Tool;
  };
  readonly callTool: {
    readonly path: {
      readonly name: string;
    };
    readonly query: undefined;
    readonly body: ToolCallRequest | undefined;
    readonly answer: ToolCallAnswer;
  };
  readonly listMcpServers: {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: undefined;
    readonly answer: McpServerList;
  };
  readonly addMcpServer: {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: McpNewServerRequest;
    readonly answer: McpServer;
  };
  readonly acceptMcpServer: {
    readonly path: {
      readonly name: string;
    };
    readonly query: undefined;
    readonly body: McpAcceptAllRequest | undefined;
    readonly answer: McpAccepted;
  };
  readonly getUsage: {
    readonly path: undefined;
    readonly query: {
      /** Grouping: `day` (the default), `session`, `agent` or `model`. */
      readonly by?: 'day' | 'session' | 'agent' | 'model';
      /** Id of a session. */
      readonly sessionId?: string;
      /** Name of an agent. */
      readonly agent?: string;
      /** Name of a model, as its provider reports it. */
      readonly model?: string;
      /** The first day, UTC. */
      readonly from?: string;
      /** The last day, UTC. */
      readonly to?: string;
      /** The `next` of the previous page. */
      readonly cursor?: string;
      /** Maximum number of entries in the page. */
      readonly limit?: number;
    };
    readonly body: undefined;
    readonly answer: UsagePage;
  };
  readonly listWorkflows: {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: undefined;
    readonly answer: WorkflowList;
  };
  readonly getWorkflow: {
    readonly path: {
      readonly name: string;
    };
    readonly query: undefined;
    readonly body: undefined;
    readonly answer: Workflow;
  };
  readonly startWorkflow: {
    readonly path: {
      readonly name: string;
    };
    readonly query: undefined;
    readonly body: WorkflowRunRequest | undefined;
    readonly answer: RunAnswer;
  };
  readonly createKey: {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: KeyRequest;
    readonly answer: NewKey;
  };
  readonly listKeys: {
    readonly path: undefined;
    readonly query: {
      /** The `next` of the previous page. */
      readonly cursor?: string;
      /** Maximum number of keys in the page. */
      readonly limit?: number;
    };
    readonly body: undefined;
    readonly answer: KeyPage;
  };
  readonly revokeKey: {
    readonly path: {
      readonly id: string;
    };
    readonly query: undefined;
    readonly body: undefined;
    readonly answer: undefined;
  };
}

/** Method and path of each operation. */
export const OPERATIONS = {
  chat: { method: 'POST', path: '/api/agent/chat', isRepeatable: true },
  streamChat: { method: 'POST', path: '/api/agent/chat/stream', isRepeatable: true },
  startRun: { method: 'POST', path: '/api/agent/runs', isRepeatable: true },
  listAgents: { method: 'GET', path: '/api/agents', isRepeatable: true },
  getAgent: { method: 'GET', path: '/api/agents/{name}', isRepeatable: true },
  listRuns: { method: 'GET', path: '/api/runs', isRepeatable: true },
  getRun: { method: 'GET', path: '/api/runs/{id}', isRepeatable: true },
  streamRunEvents: { method: 'GET', path: '/api/runs/{id}/events', isRepeatable: true },
  cancelRun: { method: 'POST', path: '/api/runs/{id}/cancel', isRepeatable: false },
  getRunJournal: { method: 'GET', path: '/api/runs/{id}/journal', isRepeatable: true },
  exportRun: { method: 'GET', path: '/api/runs/{id}/export', isRepeatable: true },
  forkRun: { method: 'POST', path: '/api/runs/{id}/fork', isRepeatable: true },
  approveRun: { method: 'POST', path: '/api/runs/{id}/approve', isRepeatable: false },
  denyRun: { method: 'POST', path: '/api/runs/{id}/deny', isRepeatable: false },
  answerRun: { method: 'POST', path: '/api/runs/{id}/input', isRepeatable: false },
  settleRun: { method: 'POST', path: '/api/runs/{id}/settle', isRepeatable: false },
  releaseRun: { method: 'POST', path: '/api/runs/{id}/release', isRepeatable: false },
  createEval: { method: 'POST', path: '/api/evals', isRepeatable: true },
  listEvals: { method: 'GET', path: '/api/evals', isRepeatable: true },
  getEval: { method: 'GET', path: '/api/evals/{id}', isRepeatable: true },
  deleteEval: { method: 'DELETE', path: '/api/evals/{id}', isRepeatable: false },
  giveFeedback: { method: 'POST', path: '/api/runs/{id}/feedback', isRepeatable: false },
  getDataset: { method: 'GET', path: '/api/feedback/dataset', isRepeatable: true },
  listWaiting: { method: 'GET', path: '/api/waiting', isRepeatable: true },
  createSession: { method: 'POST', path: '/api/sessions', isRepeatable: true },
  listSessions: { method: 'GET', path: '/api/sessions', isRepeatable: true },
  importSession: { method: 'POST', path: '/api/sessions/import', isRepeatable: true },
  getSession: { method: 'GET', path: '/api/sessions/{id}', isRepeatable: true },
  deleteSession: { method: 'DELETE', path: '/api/sessions/{id}', isRepeatable: false },
  listMessages: { method: 'GET', path: '/api/sessions/{id}/messages', isRepeatable: true },
  exportSession: { method: 'GET', path: '/api/sessions/{id}/export', isRepeatable: true },
  listTools: { method: 'GET', path: '/api/tools', isRepeatable: true },
  getTool: { method: 'GET', path: '/api/tools/{name}', isRepeatable: true },
  callTool: { method: 'POST', path: '/api/tools/{name}/call', isRepeatable: true },
  listMcpServers: { method: 'GET', path: '/api/mcp/servers', isRepeatable: true },
  addMcpServer: { method: 'POST', path: '/api/mcp/servers', isRepeatable: false },
  acceptMcpServer: { method: 'POST', path: '/api/mcp/servers/{name}/accept', isRepeatable: false },
  getUsage: { method: 'GET', path: '/api/usage', isRepeatable: true },
  listWorkflows: { method: 'GET', path: '/api/workflows', isRepeatable: true },
  getWorkflow: { method: 'GET', path: '/api/workflows/{name}', isRepeatable: true },
  startWorkflow: { method: 'POST', path: '/api/workflows/{name}/runs', isRepeatable: true },
  createKey: { method: 'POST', path: '/api/keys', isRepeatable: true },
  listKeys: { method: 'GET', path: '/api/keys', isRepeatable: true },
  revokeKey: { method: 'DELETE', path: '/api/keys/{id}', isRepeatable: false },
} as const satisfies Readonly<Record<keyof Operations, object>>;
