import type { Problem } from './problem.types.js';

/** An error in the format of OpenAI's API, with our code. */
export interface OpenAiError {
  readonly error: {
    readonly message: string;
    readonly type: string;
    /** The field at fault. */
    readonly param: string | null;
    readonly code: string;
    /** Further members of the problem, such as `run_id`. */
    readonly [member: string]: unknown;
  };
}

const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
};
/** SDKs repeat 409, as if it were a conflict of locks; these are permanent. */
const PERMANENT = new Set([
  'RUN_WAITING',
  'RUN_NOT_WAITING',
  'RUN_CANCELLED',
  'TOOL_OUTCOME_UNKNOWN',
  'TOOL_EXPIRED',
  'TOOL_DENIED',
]);

/** Whether requests below this path speak OpenAI's API. */
export function isOpenAiPath(url: string): boolean {
  return url === '/v1' || url.startsWith('/v1/');
}

/**
 * The HTTP status for clients of OpenAI's API, which repeat 408, 409, 429 and 5xx: 400 if a repeated request would repeat
 * an effect, or cannot succeed.
 */
export function openAiStatus({ status, code, has_effect: hasEffect }: Problem): number {
  return hasEffect === true || PERMANENT.has(code) ? 400 : status;
}

export function toOpenAiError(problem: Problem): OpenAiError {
  const { type: _type, title: _title, status: _status, detail, code, errors, ...more } = problem;
  const status = openAiStatus(problem);
  const [first] = Array.isArray(errors) ? (errors as readonly { readonly field?: string }[]) : [];
  const type = TYPES[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error');
  return { error: { ...more, message: detail, type, param: first?.field ?? null, code } };
}
