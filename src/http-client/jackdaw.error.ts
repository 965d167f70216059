import type { Problem } from './generated/operations.js';

/** Codes of errors that the client itself reports; all other codes come from the server. */
export type ClientErrorCode = 'CONNECTION_FAILED' | 'CLIENT_TIMEOUT' | 'INVALID_RESPONSE';

/** Details of a `JackdawError`. */
export interface JackdawErrorDetails {
  /** HTTP status of the response; 0 without an error response: a lost connection, or a run that failed during its stream. */
  readonly status?: number;
  readonly requestId?: string;
  /** The run, if the error is its failure or its conflict. */
  readonly runId?: string;
  /** Time after which the server can accept the request, in ms. */
  readonly retryAfterMs?: number;
  /** The whole problem details (RFC 9457) of the response. */
  readonly problem?: Problem & Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** The error of a request or of a run. */
export class JackdawError extends Error {
  readonly status: number;
  readonly requestId: string | undefined;
  readonly runId: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly problem: JackdawErrorDetails['problem'];

  constructor(
    /** Stable code: of the server such as `RUN_NOT_FOUND`, or a `ClientErrorCode`. */
    readonly code: string,
    message: string,
    { status = 0, requestId, runId, retryAfterMs, problem, cause }: JackdawErrorDetails = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'JackdawError';
    this.status = status;
    this.requestId = requestId;
    this.runId = runId;
    this.retryAfterMs = retryAfterMs;
    this.problem = problem;
  }

  /** The error of a response with another status than 2xx. */
  static async of(response: Response): Promise<JackdawError> {
    const { status, headers } = response;
    const problem = parseProblem(await response.text().catch(() => ''));
    const runId = problem?.['run_id'];
    return new JackdawError(problem?.code ?? 'INVALID_RESPONSE', problem?.detail ?? `The server answered ${status}.`, {
      status,
      requestId: problem?.request_id ?? headers.get('x-request-id') ?? undefined,
      runId: typeof runId === 'string' ? runId : undefined,
      retryAfterMs: retryAfterOf(headers, problem),
      problem,
    });
  }
}

/** Undefined if the text comes from another program, such as a proxy. */
function parseProblem(text: string): JackdawErrorDetails['problem'] {
  try {
    const value = JSON.parse(text) as JackdawErrorDetails['problem'] | null;
    return typeof value?.code === 'string' && typeof value.detail === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

function retryAfterOf(headers: Headers, problem: JackdawErrorDetails['problem']): number | undefined {
  const exact = problem?.['retry_after_ms'];
  if (typeof exact === 'number') return exact;
  const text = headers.get('retry-after');
  if (text === null) return undefined;
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
