import type { ErrorCode } from './error-code.types.js';

/** An error over HTTP: problem details of RFC 9457, with our `code` and further members. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ErrorCode;
  readonly [member: string]: unknown;
}
