import type { Interrupt } from '../interrupts/interrupt.js';
import type { AgUiMessage } from './ag-ui-input.schema.js';

/** The version of the protocol that this server speaks. */
export const PROTOCOL_VERSION = '1.0';

export type AgUiOutcome =
  | { readonly type: 'success'; readonly pendingToolCallIds?: readonly string[] }
  | { readonly type: 'interrupt'; readonly interrupts: readonly Interrupt[] }
  | { readonly type: 'cancelled' };

interface RunNames {
  readonly threadId: string;
  readonly runId: string;
}

interface OfMessage<Type extends string> {
  readonly type: Type;
  readonly messageId: string;
}

/**
 * The events of AG-UI 1.0 that Jackdaw sends. An optional member is absent, never `null`.
 * @see https://docs.ag-ui.com/concepts/events
 */
export type AgUiEvent =
  | ({ readonly type: 'RUN_STARTED'; readonly protocolVersion?: string; readonly parentRunId?: string } & RunNames)
  | ({ readonly type: 'RUN_FINISHED'; readonly result?: unknown; readonly outcome: AgUiOutcome } & RunNames)
  | { readonly type: 'RUN_ERROR'; readonly message: string; readonly code: string }
  | { readonly type: 'STEP_STARTED' | 'STEP_FINISHED'; readonly stepName: string }
  | (OfMessage<'TEXT_MESSAGE_START'> & { readonly role: 'assistant' })
  | (OfMessage<'TEXT_MESSAGE_CONTENT'> & { readonly delta: string })
  | OfMessage<'TEXT_MESSAGE_END'>
  | OfMessage<'REASONING_START'>
  | (OfMessage<'REASONING_MESSAGE_START'> & { readonly role: 'reasoning' })
  | (OfMessage<'REASONING_MESSAGE_CONTENT'> & { readonly delta: string })
  | OfMessage<'REASONING_MESSAGE_END'>
  | OfMessage<'REASONING_END'>
  | {
      readonly type: 'TOOL_CALL_START';
      readonly toolCallId: string;
      readonly toolCallName: string;
      readonly parentMessageId: string;
    }
  | { readonly type: 'TOOL_CALL_ARGS'; readonly toolCallId: string; readonly delta: string }
  | { readonly type: 'TOOL_CALL_END'; readonly toolCallId: string }
  | (OfMessage<'TOOL_CALL_RESULT'> & { readonly toolCallId: string; readonly content: string; readonly role: 'tool' })
  | {
      readonly type: 'SUBAGENT_STARTED';
      readonly subagentRunId: string;
      readonly name: string;
      readonly parentToolCallId: string;
    }
  | { readonly type: 'SUBAGENT_FINISHED'; readonly subagentRunId: string; readonly outcome: SubagentOutcome }
  | {
      readonly type: 'SUBAGENT_ERROR';
      readonly subagentRunId: string;
      readonly message: string;
      readonly code?: string;
    }
  | { readonly type: 'STATE_SNAPSHOT'; readonly snapshot: unknown }
  | { readonly type: 'MESSAGES_SNAPSHOT'; readonly messages: readonly AgUiMessage[] }
  | { readonly type: 'CUSTOM'; readonly name: string; readonly value: unknown };

type SubagentOutcome = { readonly type: 'success' | 'suspended' };
