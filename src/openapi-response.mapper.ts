import type { OpenAPIObject } from '@nestjs/swagger';

type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;

const PROBLEM = {
  type: 'object',
  description: 'Problem details (RFC 9457); further members tell more, such as `run_id` or `errors`.',
  required: ['type', 'title', 'status', 'detail', 'code'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'What happened, to what, and what to do.' },
    code: { type: 'string', description: 'Stable name of the error.' },
  },
};

const PROBLEM_RESPONSE = {
  description: 'Any error',
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
};

const EVENT_STREAM = {
  description:
    'The run’s events: `event` is the type, one of `RunEventType`, `id` the place to come back to, `data` its JSON.',
  content: { 'text/event-stream': { schema: { type: 'string' } } },
};

/** Adds what no controller says of itself: every operation may answer with a problem, and streams are streams. */
export function withCommonResponses(document: OpenAPIObject): OpenAPIObject {
  for (const [path, item] of Object.entries(document.paths)) {
    for (const operation of [item.get, item.post, item.put, item.patch, item.delete])
      if (operation) describe(path, operation);
  }
  document.components = { ...document.components, schemas: { ...document.components?.schemas, Problem: PROBLEM } };
  return document;
}

function describe(path: string, operation: Operation): void {
  if (/\/(stream|events)$/.test(path)) operation.responses = { 200: EVENT_STREAM };
  operation.responses['default'] = PROBLEM_RESPONSE;
}
