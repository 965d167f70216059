/** The call of a tool: its request, logger, notes and time limit. */
export type { InvokeOptions } from './result-limits.policy.js';
export { executingCall } from './direct-call.executor.js';
export { createCallSite, endsAtOf, factsOf, learnFacts, meterOf, noteOf, ToolRequest } from './tool-request.factory.js';
export type { CallNote } from './call-note.types.js';
export type { ToolLogger } from './tool-logger.factory.js';
