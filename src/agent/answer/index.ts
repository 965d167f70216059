/** The answer of a run: its fold from events, its text as a stream, its format and its error. */
export { asSchemaOutput } from './schema-output.mapper.js';
export type { GivenFormat } from './response-format.mapper.js';
export { toErrorCode, toRunError } from './run.error.js';
export { RunText, StreamRestartedError, textOf } from './text-stream.mapper.js';
export type { AgentStep, AnsweredNode, AnsweredTool, RunAnswer } from './run-answer.types.js';
