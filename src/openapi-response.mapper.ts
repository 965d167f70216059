import type { OpenAPIObject } from '@nestjs/swagger';

type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;

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
    errors: { type: 'array', description: 'All invalid fields of the request.', items: MISTAKE },
  },
};

const PROBLEM_RESPONSE = {
  description: 'Any error',
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
};

const EVENT_STREAM = {
  description:
    'The run’s events: `event` is the type, one of `RunEventType`, `id` the position to resume from, `data` its JSON.',
  content: { 'text/event-stream': { schema: { type: 'string' } } },
};

/** Adds the responses that controllers do not declare: a problem for every operation, and event streams. */
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
