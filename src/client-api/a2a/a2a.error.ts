import { AppError, type ErrorCode, type Problem, toProblem } from '../../errors/index.js';

/** The errors of A2A, with their codes in JSON-RPC and their statuses in HTTP+JSON. */
const ERRORS = {
  TASK_NOT_FOUND: { code: -32_001, status: 404, name: 'NOT_FOUND' },
  TASK_NOT_CANCELABLE: { code: -32_002, status: 400, name: 'FAILED_PRECONDITION' },
  PUSH_NOTIFICATION_NOT_SUPPORTED: { code: -32_003, status: 400, name: 'FAILED_PRECONDITION' },
  UNSUPPORTED_OPERATION: { code: -32_004, status: 400, name: 'FAILED_PRECONDITION' },
  CONTENT_TYPE_NOT_SUPPORTED: { code: -32_005, status: 400, name: 'INVALID_ARGUMENT' },
  VERSION_NOT_SUPPORTED: { code: -32_009, status: 400, name: 'FAILED_PRECONDITION' },
} as const;

export type A2aReason = keyof typeof ERRORS;

const INVALID_REQUEST = -32_600;
const METHOD_NOT_FOUND = -32_601;
const INVALID_PARAMS = -32_602;
const INTERNAL = -32_603;
const PARSE_ERROR = -32_700;
/** An error of Jackdaw without a counterpart in A2A. */
const REFUSED = -32_000;

/** Errors of Jackdaw that A2A has a name for. */
const REASON_OF: Partial<Record<ErrorCode, A2aReason>> = {
  RUN_NOT_FOUND: 'TASK_NOT_FOUND',
  RUN_PRUNED: 'TASK_NOT_FOUND',
  RUN_NOT_CANCELLABLE: 'TASK_NOT_CANCELABLE',
  RUN_NOT_WAITING: 'UNSUPPORTED_OPERATION',
  SESSION_BUSY: 'UNSUPPORTED_OPERATION',
  MODEL_CANNOT_SEE: 'CONTENT_TYPE_NOT_SUPPORTED',
};
const CODE_OF: Partial<Record<ErrorCode, number>> = {
  VALIDATION_FAILED: INVALID_PARAMS,
  SESSION_NOT_FOUND: INVALID_PARAMS,
  IDEMPOTENCY_KEY_REUSED: INVALID_PARAMS,
  MALFORMED_JSON: PARSE_ERROR,
  INTERNAL,
};
/** Names of statuses in `google.rpc.Status`. */
const STATUS_NAMES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  422: 'INVALID_ARGUMENT',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};

/** An error of the protocol. */
export class A2aError extends Error {
  constructor(
    readonly reason: A2aReason | 'METHOD_NOT_FOUND' | 'INVALID_REQUEST',
    message: string,
    readonly details: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}

/** An error as clients of both bindings receive it. */
export interface A2aFault {
  /** In JSON-RPC. */
  readonly code: number;
  /** In HTTP+JSON. */
  readonly status: number;
  /** The name of the status. */
  readonly name: string;
  readonly message: string;
  /** ProtoJSON `Any`. */
  readonly details: readonly object[];
  /** Whether the error is one of the server, not of the request. */
  readonly isOurs: boolean;
  readonly retryAfterMs?: number;
}

export function toFault(thrown: unknown): A2aFault {
  const known = knownIn(thrown);
  return known ? ofProtocol(known) : ofJackdaw(toProblem(thrown));
}

function knownIn(thrown: unknown): A2aError | undefined {
  if (thrown instanceof A2aError) return thrown;
  const reason = thrown instanceof AppError ? REASON_OF[thrown.code] : undefined;
  return reason && new A2aError(reason, (thrown as AppError).message);
}

function ofJackdaw(problem: Problem): A2aFault {
  const { status, code, detail: message, errors, retry_after_ms: retryAfterMs } = problem;
  const info = errorInfo(code, 'jackdaw');
  return {
    code: CODE_OF[code] ?? REFUSED,
    status,
    name: STATUS_NAMES[status] ?? 'UNKNOWN',
    message,
    details: Array.isArray(errors) ? [info, badRequest(errors as readonly Mistake[])] : [info],
    isOurs: status >= 500 || status === 401 || status === 403 || status === 429,
    ...(typeof retryAfterMs === 'number' && { retryAfterMs }),
  };
}

function ofProtocol({ reason, message, details }: A2aError): A2aFault {
  const isOurs = false;
  if (reason === 'METHOD_NOT_FOUND')
    return { code: METHOD_NOT_FOUND, status: 404, name: 'NOT_FOUND', message, details: [], isOurs };
  if (reason === 'INVALID_REQUEST')
    return { code: INVALID_REQUEST, status: 400, name: 'INVALID_ARGUMENT', message, details: [], isOurs };
  return { ...ERRORS[reason], message, details: [errorInfo(reason, 'a2a-protocol.org', details)], isOurs };
}

interface Mistake {
  readonly field: string;
  readonly message: string;
}

function errorInfo(reason: string, domain: string, metadata: Readonly<Record<string, string>> = {}): object {
  const hasMetadata = Object.keys(metadata).length > 0;
  return { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain, ...(hasMetadata && { metadata }) };
}

function badRequest(mistakes: readonly Mistake[]): object {
  return {
    '@type': 'type.googleapis.com/google.rpc.BadRequest',
    fieldViolations: mistakes.map(({ field, message: description }) => ({ field, description })),
  };
}

/** A JSON-RPC error response. */
export function toRpcError(id: string | number | null, { code, message, details }: A2aFault): object {
  return { jsonrpc: '2.0', id, error: { code, message, ...(details.length > 0 && { data: details }) } };
}

/** The body of an error in HTTP+JSON: `google.rpc.Status`. */
export function toRestError({ status: code, name: status, message, details }: A2aFault): object {
  return { error: { code, status, message, details } };
}
