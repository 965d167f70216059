import { caller } from './caller';

/** A refused or failed request, as the API's problem details report it. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    /** Code of the API; empty if the server did not answer. */
    readonly code: string,
    message: string,
    /** Seconds after which a repetition is useful. */
    readonly retryAfter: number | null = null,
  ) {
    super(message);
  }
}

export interface RequestOptions {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Values of a query; `undefined` and empty ones are left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** The URL of an API route, relative to the page, so that it works below a path prefix. */
export function apiUrl(path: string, query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return `../api/${path}${search === '' ? '' : `?${search}`}`;
}

/** @returns the response with status 2xx. @throws ApiError */
export async function send(url: string, options: RequestOptions = {}): Promise<Response> {
  const { method = 'GET', body, headers, signal } = options;
  const response = await fetch(url, {
    method,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new ApiError(0, '', error instanceof Error ? error.message : String(error));
  });
  if (response.ok) return response;
  throw await toError(response);
}

/** @returns the JSON body; `undefined` for an empty one. @throws ApiError */
export async function request<T>(path: string, query: Query = {}, options: RequestOptions = {}): Promise<T> {
  const response = await send(apiUrl(path, query), options);
  const text = await response.text();
  return (text === '' ? undefined : JSON.parse(text)) as T;
}

/** Sends a change. @throws ApiError */
export function post<T = void>(path: string, body: unknown = {}): Promise<T> {
  return request<T>(path, {}, { method: 'POST', body });
}

interface Problem {
  readonly title?: string;
  readonly detail?: string;
  readonly code?: string;
}

async function toError(response: Response): Promise<ApiError> {
  const problem = (await response.json().catch(() => ({ title: response.statusText }))) as Problem;
  // The key was revoked, or the session is over.
  if (response.status === 401) caller.value = null;
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
  const message = problem.detail ?? problem.title ?? String(response.status);
  return new ApiError(response.status, problem.code ?? '', message, Number.isNaN(retryAfter) ? null : retryAfter);
}
