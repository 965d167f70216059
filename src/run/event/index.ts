/** Events of runs: their types, their numbers in the journal, and those of webhooks. */
export { isLive, NO_USAGE, isTerminal } from './run-event.types.js';
export type {
  JournaledEvent,
  LiveEvent,
  AnsweredBy,
  RunEvent,
  RunFinishReason,
  RunResult,
  RunUsage,
  TerminalEvent,
  ToolCompleted,
  ToolStarted,
  UsageReported,
} from './run-event.types.js';
export type { CompactedState, MemoryState, ReferenceState, ShortenedTurnState } from './memory-state.types.js';
export type { RunFailure } from './run-failure.types.js';
export type { NodeCompleted, NodeKind } from './node-event.types.js';
export { parseRunPlace, START, type RunPlace, RunItem } from './run-item.factory.js';
export { WEBHOOK_EVENTS } from './webhook-statement.factory.js';
export type { WebhookEvent } from './webhook-statement.factory.js';
