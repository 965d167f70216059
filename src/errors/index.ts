/** `AppError`, its codes, the mapping of errors to problem details, and log lines with fields. */
export { AgentLog, Log, currentLogFields, withLogFields } from './log.js';
export { AppError, messageOf, toAppError } from './app.error.js';
export { ERROR_CODES } from './error-code.types.js';
export type { ErrorCode } from './error-code.types.js';
export { HttpExceptionFilter, ProblemFilter } from './http-exception.filter.js';
export { OutageReport } from './outage-report.js';
export { exportsOf, loadPackage } from './load-package.js';
export { type Problem } from './problem.types.js';
export { toOpenAiError } from './openai-error.mapper.js';
export { toProblem } from './problem.mapper.js';
