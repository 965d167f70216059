import type * as api from '../../src/http-client/generated/operations';

// The answers of the API, as its OpenAPI document describes them. Times are epoch ms.
export type {
  Agent,
  AnsweredRunFailure as RunFailure,
  DatasetPage,
  Feedback,
  JournalStep,
  Key,
  ListedRequest,
  ListedRun,
  McpQuarantine,
  McpServer,
  Message,
  MessagePage,
  RunAnswer,
  RunPage,
  RunUsage as Usage,
  Session,
  Tool,
  UsageEntry,
  UsagePage,
  WaitingPage,
  WaitingRequest,
  Workflow,
} from '../../src/http-client/generated/operations';

export type RunStatus = api.ListedRun['status'];

export interface JournalEvent extends api.JournalEvent {
  readonly data: RunEvent;
}

export interface RunJournal extends api.RunJournal {
  readonly events: readonly JournalEvent[];
}

export interface Caller {
  readonly id: string;
  readonly tenant: string;
  readonly roles: readonly string[];
  readonly scopes: readonly string[];
}

export interface RunCounts {
  readonly by_status: Readonly<Record<RunStatus, number>>;
  readonly failed: readonly { readonly error_code: string | null; readonly count: number }[];
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
  readonly error?: api.AnsweredRunFailure | string;
  readonly code?: string;
  readonly execution_time_ms?: number;
  readonly child_run_id?: string;
  readonly requests?: readonly api.WaitingRequest[];
  readonly reason?: string;
  readonly usage?: api.RunUsage;
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
