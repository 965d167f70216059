import type { RunUsage } from '../../run/event/index.js';

/** Metadata of a message: its run and, at its end, the usage of all model calls of the run. */
export interface UiMetadata {
  readonly run_id: string;
  readonly usage?: RunUsage;
}

export type UiFinishReason = 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other';

/** A call of a tool of this server; the page executes calls without these members. */
interface OfServer {
  readonly dynamic?: true;
  readonly providerExecuted?: true;
}

/** The chunks of the UI message stream that Jackdaw sends. @see https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol */
export type UiChunk =
  | { readonly type: 'start'; readonly messageId: string; readonly messageMetadata: UiMetadata }
  | { readonly type: 'start-step' }
  | { readonly type: 'finish-step' }
  | { readonly type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end'; readonly id: string }
  | { readonly type: 'text-delta' | 'reasoning-delta'; readonly id: string; readonly delta: string }
  | ({
      readonly type: 'tool-input-available';
      readonly toolCallId: string;
      readonly toolName: string;
      readonly input: unknown;
    } & OfServer)
  | {
      readonly type: 'tool-approval-request';
      readonly approvalId: string;
      readonly toolCallId: string;
      readonly reason?: string;
    }
  | {
      readonly type: 'tool-approval-response';
      readonly approvalId: string;
      readonly approved: boolean;
      readonly reason?: string;
    }
  | ({ readonly type: 'tool-output-available'; readonly toolCallId: string; readonly output: unknown } & OfServer)
  | ({ readonly type: 'tool-output-error'; readonly toolCallId: string; readonly errorText: string } & OfServer)
  | { readonly type: 'tool-output-denied'; readonly toolCallId: string }
  | { readonly type: 'error'; readonly errorText: string }
  | { readonly type: 'abort'; readonly reason: string }
  | { readonly type: 'finish'; readonly finishReason: UiFinishReason; readonly messageMetadata: UiMetadata };
