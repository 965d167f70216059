/** The parts of the API's answers that the console reads. Times are epoch ms. */
export interface Caller {
  readonly id: string;
  readonly tenant: string;
  readonly roles: readonly string[];
  readonly scopes: readonly string[];
}

export type RunStatus = 'queued' | 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled';

export interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly cached_tokens?: number;
  readonly cache_write_tokens?: number;
  readonly reasoning_tokens?: number;
  readonly cost?: number;
}

export interface ListedRun {
  readonly run_id: string;
  readonly status: RunStatus;
  readonly agent: string;
  readonly kind?: string;
  readonly session_id: string | null;
  readonly created_at: number;
  readonly finished_at: number | null;
  readonly forked_from: string | null;
  readonly parent_run_id: string | null;
  readonly pruned_at: number | null;
  readonly finish_reason: string | null;
  readonly usage: Usage | null;
  readonly error_code?: string | null;
  readonly query_preview?: string | null;
  readonly pending?: number;
  readonly queued_reason?: string;
  readonly next_attempt_at?: number;
  readonly is_damaged?: true;
}

export interface RunCounts {
  readonly by_status: Readonly<Record<RunStatus, number>>;
  readonly failed: readonly { readonly error_code: string | null; readonly count: number }[];
}

export interface RunPage {
  readonly runs: readonly ListedRun[];
  readonly next: string | null;
  /** How far a search for text went; absent without a search. */
  readonly searched_to?: number | null;
  readonly is_search_complete?: boolean;
}

export interface WaitingRequest {
  readonly id: string;
  readonly kind: 'approval' | 'input' | 'outcome_unknown' | 'child' | 'restored';
  readonly step: string;
  readonly call_id: string;
  readonly tool: string;
  readonly arguments: string;
  readonly reason?: string;
  readonly facts?: readonly {
    readonly fact: string;
    readonly step: string;
    readonly tool?: string;
    readonly origin?: string;
  }[];
  readonly settings?: readonly string[];
  readonly covers?: { readonly definition: string; readonly addresses: readonly string[] };
  readonly by_another?: true;
  readonly by_roles?: readonly string[];
  readonly question?: string;
  readonly schema?: JsonSchema;
  readonly child_run_id?: string;
  readonly expires_at: number | null;
}

/** The part of JSON Schema from which forms are made. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly [member: string]: unknown;
}

export interface RunFailure {
  readonly code: string;
  readonly message: string;
  readonly is_retryable: boolean;
}

export interface ToolResult {
  readonly tool: string;
  readonly success: boolean;
  readonly result?: unknown;
  readonly result_bytes?: number;
  readonly error?: string;
  readonly execution_time_ms: number;
  readonly child_run_id?: string;
}

export interface RunAnswer {
  readonly run_id: string;
  readonly agent: string;
  readonly status: RunStatus;
  readonly session_id: string | null;
  readonly result: string;
  readonly output?: unknown;
  readonly iterations: number;
  readonly duration_ms: number;
  readonly is_complete: boolean;
  readonly finish_reason: string | null;
  readonly usage: Usage;
  readonly children_usage?: Usage;
  readonly model: string;
  readonly waiting?: readonly WaitingRequest[];
  readonly error?: RunFailure;
  readonly parent_run_id?: string;
  readonly child_run_ids?: readonly string[];
  readonly forked_from?: string;
  readonly queued_reason?: string;
  readonly next_attempt_at?: number;
  readonly tool_results: readonly ToolResult[];
  readonly memory_state?: {
    readonly policy: string;
    readonly message_count: number;
    readonly context_tokens: number;
    readonly dropped: number;
  };
}

export interface JournalStep {
  readonly position: number;
  readonly name: string;
  readonly kind: string;
  readonly subject: string;
  readonly result: unknown;
  /** The execution that recorded it; 0 for a step copied from another run. */
  readonly epoch: number;
  readonly created_at: number;
  readonly started_at?: number | null;
  readonly first_token_ms?: number | null;
  readonly attempts?: number | null;
}

export interface JournalEvent {
  readonly n: number;
  readonly type: string;
  readonly data: RunEvent;
  readonly created_at: number;
}

export interface RunJournal {
  readonly run_id: string;
  readonly agent: string;
  readonly status: RunStatus;
  readonly session_id: string | null;
  readonly forked_from: string | null;
  readonly loop_version: number;
  readonly created_at: number;
  readonly finished_at: number | null;
  readonly input: unknown;
  readonly definition: unknown;
  readonly steps: readonly JournalStep[];
  readonly events: readonly JournalEvent[];
  readonly next: number | null;
}

/** A run event. Unknown types and members are ignored. */
export interface RunEvent {
  readonly type: string;
  readonly run_id?: string;
  readonly session_id?: string | null;
  readonly agent?: string;
  readonly iteration?: number;
  readonly text?: string;
  readonly finish_reason?: string;
  readonly call_id?: string;
  readonly tool?: string;
  readonly arguments?: string;
  readonly success?: boolean;
  readonly result?: unknown;
  readonly error?: RunFailure | string;
  readonly code?: string;
  readonly execution_time_ms?: number;
  readonly child_run_id?: string;
  readonly requests?: readonly WaitingRequest[];
  readonly reason?: string;
  readonly usage?: Usage;
  readonly model?: string;
  readonly progress?: number;
  readonly total?: number;
  readonly message?: string;
  readonly decision?: string;
  readonly from?: string;
  readonly to?: string;
  readonly attempt?: number;
  readonly [member: string]: unknown;
}

export interface Agent {
  readonly name: string;
  readonly description: string;
  readonly is_default: boolean;
  readonly model: {
    readonly provider: string;
    readonly name: string;
    readonly parameters: Readonly<Record<string, unknown>>;
  };
  readonly protocol: string;
  readonly tools: readonly string[];
  readonly mcp_servers: readonly { readonly name: string }[];
  readonly sub_agents: readonly string[];
  readonly handoffs: readonly string[];
  readonly skills: readonly string[];
  readonly approvals: readonly string[];
  readonly memory: { readonly enabled: boolean; readonly policy: string };
  readonly limits: { readonly max_iterations: number; readonly run_timeout_ms: number };
}

export interface Session {
  readonly id: string;
  readonly owner: string;
  readonly turn_count: number;
  readonly message_count: number;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly is_tainted: boolean;
  readonly is_private: boolean;
  readonly created_at: number;
  readonly updated_at: number;
  readonly parent_session_id: string | null;
}

export interface Message {
  readonly turn: number;
  readonly turn_status: string;
  readonly run_id: string;
  readonly role: 'user' | 'assistant' | 'tool' | 'system';
  readonly content: string | null;
  readonly tool_calls?: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  readonly tool_call_id?: string;
  readonly name?: string;
  readonly images?: readonly { readonly url: string }[];
  readonly created_at: number;
}

export interface Workflow {
  readonly name: string;
  readonly description: string;
  readonly input?: JsonSchema;
  readonly nodes: readonly {
    readonly id: string;
    readonly type: string;
    readonly description?: string;
    readonly uses?: string;
  }[];
  readonly edges: readonly { readonly from: string; readonly to: string; readonly kind: string }[];
}
