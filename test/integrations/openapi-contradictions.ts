import { createRequire } from 'node:module';
import { isNode, type Node } from '../../src/rest-tool/openapi/openapi.types.js';
import { declaredParameters, followed, mediaOf } from './openapi-arguments.js';
import type { TriedOperation } from './openapi-trial.js';

const load = createRequire(import.meta.url);
const { Ajv2020 } = load('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js');
const { default: addFormats } = load('ajv-formats') as typeof import('ajv-formats');

/**
 * Why the values of a call contradict the document's own schemas, by a validator that shares no code with the import.
 * Empty if they do not.
 */
export function contradictionsOf(tried: TriedOperation, values: Node, document: Node): readonly string[] {
  const { parameters, body } = tried.request;
  const declared = declaredParameters(tried, document);
  const found = parameters.flatMap(({ name, place, argument }) => {
    const node = declared.findLast((one) => one['name'] === name && one['in'] === place);
    return values[argument] === undefined ? [] : reasons(node?.['schema'], values[argument], name, document);
  });
  if (!body || values[body.argument] === undefined) return found;
  return [...found, ...reasons(mediaOf(tried, body, document)['schema'], values[body.argument], 'body', document)];
}

function reasons(schema: unknown, value: unknown, what: string, document: Node): readonly string[] {
  if (!isNode(schema)) return [];
  const ajv = new Ajv2020({ strict: false, logger: false, validateSchema: false });
  addFormats(ajv);
  const check = ajv.compile(currentOf(schema, document, []) as object);
  if (check(value)) return [];
  return check.errors!.slice(0, 2).map(({ instancePath, message, params }) => {
    const { additionalProperty } = params as { additionalProperty?: string };
    return `${what}${instancePath} ${message!}${additionalProperty === undefined ? '' : ` (${additionalProperty})`}`;
  });
}

/** A schema without references and with the keywords of OpenAPI 3.1; read-only properties cannot be sent. */
function currentOf(schema: unknown, document: Node, trail: readonly string[]): unknown {
  if (Array.isArray(schema)) return schema.map((one) => currentOf(one, document, trail));
  if (!isNode(schema)) return schema;
  const { $ref: reference } = schema;
  if (typeof reference === 'string') {
    if (trail.includes(reference)) return {};
    return currentOf(followed(schema, document) ?? {}, document, [...trail, reference]);
  }
  const entries = Object.entries(schema).flatMap(([key, value]): [string, unknown][] => {
    if (DATA.has(key)) return [[key, value]];
    if (LEFT_OUT.has(key) || (key.startsWith('exclusive') && typeof value === 'boolean')) return [];
    if (key !== 'properties' || !isNode(value)) return [[key, currentOf(value, document, trail)]];
    const named = Object.entries(value).map(([name, one]) => [
      name,
      isNode(one) && one['readOnly'] === true ? false : currentOf(one, document, trail),
    ]);
    return [[key, Object.fromEntries(named)]];
  });
  const current = Object.fromEntries(entries) as Record<string, unknown>;
  const { properties, required } = current;
  if (isNode(properties) && Array.isArray(required)) {
    current['required'] = required.filter((name) => properties[String(name)] !== false);
  }
  return schema['nullable'] === true ? { anyOf: [current, { type: 'null' }] } : current;
}

const DATA = new Set(['enum', 'const', 'required']);
const LEFT_OUT = new Set(['nullable', 'example', 'examples', 'default', 'discriminator', '$id', '$schema', 'xml']);
