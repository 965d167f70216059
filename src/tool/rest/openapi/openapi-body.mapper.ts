import type { JsonSchema } from '../../../common/index.js';
import { unmappable } from './openapi.error.js';
import type { OpenApiReferences } from './openapi-reference.mapper.js';
import type { OpenApiSchemas } from './openapi-schema.mapper.js';
import { isNode, type Node } from './openapi.types.js';

/** The request body of an operation. */
export interface MappedBody {
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
  readonly contentType: string;
}

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\b/i;

/** The JSON body of an operation, if it has one. @throws AppError `TOOL_INVALID` if it accepts other types only */
export function mapBody(
  value: unknown,
  method: string,
  references: OpenApiReferences,
  schemas: OpenApiSchemas,
  where: string,
): MappedBody | undefined {
  if (value === undefined) return undefined;
  const place = `${where}: requestBody`;
  const { node } = references.resolve(value, place);
  if (method === 'GET' || method === 'HEAD') throw unmappable(place, `${method} has no body`);
  const [contentType, media] = jsonIn(node['content'], place);
  const schema = schemas.toJsonSchema(media['schema'] ?? {}, place);
  const { description } = node;
  return {
    schema: typeof schema === 'boolean' ? {} : { ...(typeof description === 'string' && { description }), ...schema },
    isRequired: node['required'] === true,
    contentType,
  };
}

function jsonIn(content: unknown, place: string): readonly [contentType: string, media: Node] {
  const types = isNode(content) ? Object.entries(content) : [];
  const [found] = types.filter(([type, media]) => JSON_TYPE.test(type) && isNode(media));
  if (found) return [found[0], found[1] as Node];
  const given = types.map(([type]) => type).join(', ');
  throw unmappable(place, `its type is ${given || 'missing'}, and only JSON is supported`);
}
