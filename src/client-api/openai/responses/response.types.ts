import type { RunUsage } from '../../../run/event/index.js';

export interface OutputText {
  readonly type: 'output_text';
  readonly text: string;
  readonly annotations: readonly [];
  readonly logprobs: readonly [];
}

type ItemStatus = 'in_progress' | 'completed' | 'incomplete' | 'failed';

/** An item of a response. @see https://platform.openai.com/docs/api-reference/responses/object */
export type OutputItem =
  | {
      readonly type: 'message';
      readonly id: string;
      readonly role: 'assistant';
      readonly status: ItemStatus;
      readonly content: readonly OutputText[];
    }
  | {
      readonly type: 'reasoning';
      readonly id: string;
      readonly summary: readonly { readonly type: 'summary_text'; readonly text: string }[];
    }
  | {
      readonly type: 'mcp_call';
      readonly id: string;
      readonly server_label: 'jackdaw';
      readonly name: string;
      readonly arguments: string;
      readonly output: string | null;
      readonly error: string | null;
      readonly approval_request_id: null;
      readonly status: ItemStatus;
    }
  | {
      readonly type: 'function_call';
      readonly id: string;
      readonly call_id: string;
      readonly name: string;
      readonly arguments: string;
      readonly status: ItemStatus;
    }
  | {
      readonly type: 'mcp_approval_request';
      readonly id: string;
      readonly server_label: 'jackdaw';
      readonly name: string;
      readonly arguments: string;
    };

export type ResponseStatus = 'queued' | 'in_progress' | 'completed' | 'failed' | 'cancelled' | 'incomplete';

/** The state of a response: that of its run so far. */
export interface ResponseState {
  readonly status: ResponseStatus;
  readonly output: readonly OutputItem[];
  readonly usage: RunUsage;
  /** Time of its first event, epoch ms; `null` before it. */
  readonly createdAt: number | null;
  /** Epoch ms. */
  readonly completedAt: number | null;
  readonly incompleteReason: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** An event of a streamed response. */
export interface ResponseEvent {
  readonly type: string;
  /** Increasing; `starting_after` of a later request. */
  readonly sequence_number: number;
  readonly [member: string]: unknown;
}
