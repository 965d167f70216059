/** `AppError`, its codes, and the mapping of errors to problem details. */
export { AppError, messageOf, toAppError } from './app.error.js';
export type { AppErrorOptions } from './app.error.js';
export { ERROR_CODES } from './error-code.types.js';
export type { ErrorCode } from './error-code.types.js';
export { HttpExceptionFilter, ProblemFilter } from './http-exception.filter.js';
export { loadPackage } from './load-package.js';
export type { Problem } from './problem.types.js';
