import type { OpenAPIObject } from '@nestjs/swagger';
import type { PlacedOperation } from './operation.mapper.js';

/** The schema of `FieldMistake`. */
const MISTAKE = {
  type: 'object',
  required: ['field', 'message', 'rule', 'got'],
  properties: {
    field: {
      type: 'string',
      description: 'Path of the field in the request: `images.0.url`, `arguments.text`, `cursor`.',
    },
    message: { type: 'string' },
    rule: { type: 'string', description: 'Name of the violated rule.' },
    got: { type: 'string', description: 'JSON type of the given value; `nothing` if it is missing.' },
  },
};

const PROBLEM = {
  type: 'object',
  description: 'Problem details (RFC 9457); further members contain details, such as `run_id`.',
  required: ['type', 'title', 'status', 'detail', 'code'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'What happened, to what, and what to do.' },
    code: { type: 'string', description: 'Stable code of the error.' },
    request_id: { type: 'string', description: 'Id of the request, as in `X-Request-Id` and in the log.' },
    errors: { type: 'array', description: 'All invalid fields of the request.', items: MISTAKE },
  },
};

const EVENT_STREAM = {
  description:
    'The run’s events: `event` is the type, one of `RunEventType`, `id` the position to resume from, `data` a `RunEvent` as JSON.',
  headers: { 'X-Run-Id': header('Id of the run.') },
  content: { 'text/event-stream': { schema: { type: 'string' }, 'x-event-schema': reference('RunEvent') } },
};

const CHANGE_STREAM = {
  description:
    'The changes: `event` is `feed.opened` (first, with a position only) or `run.changed`, `id` the position to resume from, `data` JSON.',
  content: {
    'text/event-stream': {
      schema: { type: 'string' },
      'x-event-schema': {
        type: 'object',
        required: ['type'],
        properties: {
          type: { type: 'string', enum: ['feed.opened', 'run.changed'] },
          run: { ...reference('ListedRunDto'), description: 'The run as it is now; absent in `feed.opened`.' },
        },
      },
    },
  },
};

const FILE = {
  description: 'The content, with its media type. Always with `nosniff` and `Content-Security-Policy: sandbox`.',
  content: { '*/*': { schema: { type: 'string', format: 'binary' } } },
};

const PART = {
  type: 'object',
  additionalProperties: { type: 'object', required: ['status'], properties: { status: { type: 'string' } } },
};

const HEALTH = {
  type: 'object',
  required: ['status'],
  properties: {
    status: { type: 'string', enum: ['ok', 'degraded', 'error', 'shutting_down'] },
    info: { ...PART, description: 'The parts that work.' },
    error: { ...PART, description: 'The parts that do not.' },
    details: { ...PART, description: 'All parts.' },
  },
};

const MESSAGE = {
  description: 'A message of JSON-RPC, or events with such messages.',
  content: {
    'application/json': { schema: { type: 'object', additionalProperties: true } },
    'text/event-stream': { schema: { type: 'string' } },
  },
};

const RPC_ERROR = {
  type: 'object',
  description: 'An error of JSON-RPC.',
  required: ['jsonrpc', 'error'],
  properties: {
    jsonrpc: { type: 'string', enum: ['2.0'] },
    id: { type: ['string', 'integer', 'null'] },
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: { code: { type: 'integer' }, message: { type: 'string' } },
    },
  },
};

/** Responses of routes whose handlers write the reply themselves. */
const RESPONSES: Readonly<Record<string, Readonly<Record<number, object>>>> = {
  streamChat: { 200: EVENT_STREAM },
  streamRunChanges: { 200: CHANGE_STREAM },
  streamRunEvents: {
    200: EVENT_STREAM,
    204: { description: 'The run has ended, and `Last-Event-ID` is its last event.' },
  },
  getRunFile: { 200: FILE },
  getAgentHealth: { 200: health('Operational'), 503: health('Not operational') },
  getReadiness: { 200: health('Ready'), 503: health('Not ready') },
  getLiveness: { 200: health('Alive') },
  sendMcpMessage: { 200: MESSAGE, 202: { description: 'A notification or a response was received.' } },
  openMcpStream: { 200: { ...MESSAGE, content: { 'text/event-stream': MESSAGE.content['text/event-stream'] } } },
  endMcpSession: { 200: { description: 'The session has ended.' } },
};

/** Operations that also answer 200 or 202, with the same body: the run has ended, or is unfinished. */
const TWO_STATUSES = new Set(['chat', 'callTool', 'startWorkflow']);
/** Operations whose success names the run. */
const LOCATED = new Set(['startRun', 'forkRun', 'callTool', 'startWorkflow']);

const TEXTS: Readonly<Record<number, string>> = {
  200: 'Success',
  201: 'Created',
  202: 'Accepted; the run is unfinished',
  204: 'Done',
  400: 'Invalid request',
  401: 'No valid API key',
  404: 'Not found, or not visible for the caller',
  405: 'Method not allowed',
  406: 'No acceptable media type',
  408: 'The body did not arrive in time',
  409: 'Conflict with the present state',
  410: 'The journal has been pruned',
  413: 'Body too large',
  415: 'Unsupported media type',
  422: 'Valid request that cannot be carried out',
  429: 'Limit reached',
  500: 'Internal error',
  502: 'Failure of the model or of another server',
  503: 'Overloaded, unavailable, or shutting down',
  504: 'Timeout',
};

const RETRY_AFTER = { 'Retry-After': header('Seconds until a retry, if known.') };
/** Headers of errors, by status. */
const HEADERS: Readonly<Record<number, object>> = {
  401: { 'WWW-Authenticate': header('`Bearer`') },
  429: RETRY_AFTER,
  503: RETRY_AFTER,
};

/** Adds the responses that controllers do not declare: errors, streams, files, and headers. */
export function describeResponses(operations: readonly PlacedOperation[], document: OpenAPIObject): void {
  for (const placed of operations) {
    const { operation } = placed;
    const id = operation.operationId ?? '';
    const own = (RESPONSES[id] ?? operation.responses) as Record<string, Response>;
    if (TWO_STATUSES.has(id)) own[202] = own[200] = { ...(own[200] ?? own[202]), description: '' };
    const success = Object.entries(own).map(([status, response]) => [status, succeeded(placed, status, response)]);
    const errors = errorsOf(placed).map((status) => [status, problem(placed, status)]);
    operation.responses = {
      ...(Object.fromEntries(errors) as object),
      ...(Object.fromEntries(success) as object),
      default: problem(placed, 500),
    } as typeof operation.responses;
  }
  document.components = { ...document.components, schemas: { ...document.components?.schemas, Problem: PROBLEM } };
}

interface Response {
  readonly description?: string;
  readonly headers?: object;
}

function succeeded({ operation }: PlacedOperation, status: string, response: Response): object {
  const id = operation.operationId ?? '';
  const isReplayable = operation.parameters?.some((each) => 'name' in each && each.name === 'idempotency-key');
  const headers = {
    ...response.headers,
    ...(LOCATED.has(id) && { Location: header('Path of the run.') }),
    ...(id === 'chat' && { 'X-Run-Id': header('Id of the run.') }),
    ...(isReplayable && {
      'Idempotent-Replayed': header('`true` if an earlier request with the key started the run, or created the thing.'),
    }),
  };
  const description = response.description || TEXTS[Number(status)] || 'Success';
  return { ...response, description, ...(Object.keys(headers).length > 0 && { headers }) };
}

/** Statuses of errors, by the shape of the request and by the table of operations. */
function errorsOf({ path, operation, documented, access }: PlacedOperation): number[] {
  const hasBody = operation.requestBody !== undefined || documented?.id === 'sendMcpMessage';
  const isPublic = access?.isPublic ?? false;
  const statuses = new Set([
    400,
    ...(isPublic ? [] : [401, 429]),
    403,
    ...(path.includes('{') ? [404] : []),
    ...(hasBody ? [408, 413, 415] : []),
    ...(documented?.errors ?? []),
    500,
    503,
  ]);
  return [...statuses].toSorted((a, b) => a - b);
}

function problem({ access, documented }: PlacedOperation, status: number): object {
  const scopes = access?.scopes.map((scope) => `\`${scope}\``).join(' or ') ?? '';
  const forbidden = scopes === '' ? 'Refused' : `Refused, or the caller lacks the scope ${scopes}`;
  const headers = HEADERS[status];
  return {
    description: status === 403 ? forbidden : (TEXTS[status] ?? 'Error'),
    ...(headers && { headers }),
    content: {
      'application/problem+json': { schema: reference('Problem') },
      ...(documented?.tag === 'MCP' && { 'application/json': { schema: RPC_ERROR } }),
    },
  };
}

function health(description: string): object {
  return { description, content: { 'application/json': { schema: HEALTH } } };
}

function header(description: string): object {
  return { description, schema: { type: 'string' } };
}

function reference(name: string): object {
  return { $ref: `#/components/schemas/${name}` };
}
