import type { OpenAPIObject } from '@nestjs/swagger';

type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;

/** As `FieldMistake`. */
const MISTAKE = {
  type: 'object',
  required: ['field', 'message', 'rule', 'got'],
  properties: {
    field: { type: 'string', description: 'Its path in the request: `images.0.url`, `arguments.text`, `cursor`.' },
    message: { type: 'string' },
    rule: { type: 'string', description: 'The name of what does not hold.' },
    got: { type: 'string', description: 'The JSON type of what was given; `nothing` where it is missing.' },
  },
};

const PROBLEM = {
  type: 'object',
  description: 'Problem details (RFC 9457); further members tell more, such as `run_id`.',
  required: ['type', 'title', 'status', 'detail', 'code'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'What happened, to what, and what to do.' },
    code: { type: 'string', description: 'Stable name of the error.' },
    errors: { type: 'array', description: 'Everything that is wrong with the request.', items: MISTAKE },
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
