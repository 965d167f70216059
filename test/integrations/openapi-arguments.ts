import { isNode, type Node } from '../../src/rest-tool/openapi/openapi.types.js';
import type { MappedBody } from '../../src/rest-tool/openapi/openapi-body.mapper.js';
import { partAt } from '../../src/tool/input/subschema.mapper.js';
import type { TriedOperation } from './openapi-trial.js';

const MAX_LEVELS = 6;
/** Levels of a full sample with optional properties. */
const FULL_LEVELS = 3;

/** Arguments of a call. */
interface GivenArguments {
  readonly values: Node;
  /** Whether a required value is made up, because the document has no example of it. */
  readonly isSample: boolean;
}

/**
 * Arguments of an operation's calls: one set for each example of its body, else one, and for a form one with all
 * fields.
 */
export function* argumentsOf(tried: TriedOperation, document: Node): Generator<GivenArguments> {
  const { body } = tried.request;
  const { values, isSample } = parameterValues(tried, document);
  const withBody = (value: unknown) => (body ? { ...values, [body.argument]: withFiles(value, body) } : values);
  const examples = body ? bodyExamples(tried, body, document) : [];
  for (const example of examples) yield { values: withBody(example), isSample };
  if (examples.length > 0) return;
  if (body?.isRequired) yield { values: withBody(sampleOf(body.schema)), isSample: true };
  else yield { values, isSample };
  if (body?.kind === 'form') yield { values: withBody(sampleOf(body.schema, 0, FULL_LEVELS)), isSample: true };
}

/** An example of a body with the number of a file in place of each file. */
function withFiles(value: unknown, { kind, files }: MappedBody): unknown {
  if (kind === 'bytes') return 1;
  if (!isNode(value) || files.size === 0) return value;
  const entries = Object.entries(value).map(([name, one]) => {
    const isFile = files.has(name) && one !== null;
    return [name, isFile ? (Array.isArray(one) ? one.map(() => 1) : 1) : one];
  });
  return Object.fromEntries(entries) as unknown;
}

/** Examples of the parameters, and samples of required ones without an example. */
function parameterValues(tried: TriedOperation, document: Node): GivenArguments {
  const declared = declaredParameters(tried, document);
  const values: Record<string, unknown> = {};
  let isSample = false;
  for (const { name, place, argument, isRequired, schema } of tried.request.parameters) {
    const node = declared.findLast((one) => one['name'] === name && one['in'] === place);
    const example = node && exampleOf(node, document);
    if (example !== undefined) values[argument] = example;
    else if (isRequired) {
      values[argument] = sampleOf(schema);
      isSample = true;
    }
  }
  return { values, isSample };
}

/** Parameters of the path and of the operation, without references. */
export function declaredParameters({ operation: { item, node } }: TriedOperation, document: Node): readonly Node[] {
  return [item['parameters'], node['parameters']]
    .flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []))
    .map((one) => followed(one, document))
    .filter(isNode);
}

/** The media type of an operation's body. */
export function mediaOf({ operation: { node } }: TriedOperation, body: MappedBody, document: Node): Node {
  const requestBody = followed(node['requestBody'], document);
  const content = isNode(requestBody) && isNode(requestBody['content']) ? requestBody['content'] : {};
  const types = Object.keys(content);
  const type = types.find((one) => one === body.contentType) ?? types.find((one) => one.includes('*'));
  const media = followed(content[type ?? ''], document);
  return isNode(media) ? media : {};
}

/** Follows local references. */
export function followed(value: unknown, document: Node): unknown {
  let here = value;
  for (let count = 0; count < 20 && isNode(here) && typeof here['$ref'] === 'string'; count++) {
    here = partAt(document, here['$ref']);
  }
  return here;
}

function bodyExamples(tried: TriedOperation, body: MappedBody, document: Node): readonly unknown[] {
  const media = mediaOf(tried, body, document);
  const schema = followed(media['schema'], document);
  const own = isNode(schema) ? [schema['example'], ...listIn(schema['examples'])] : [];
  const found = [media['example'], ...valuesOf(media['examples'], document), ...own].filter((one) => one !== undefined);
  return body.kind === 'json' ? found : found.filter((one) => isNode(one) === (body.kind !== 'text'));
}

function exampleOf(node: Node, document: Node): unknown {
  const content = isNode(node['content']) ? Object.values(node['content'])[0] : undefined;
  const schema = followed(node['schema'] ?? (isNode(content) ? content['schema'] : undefined), document);
  const own = isNode(schema) ? (schema['example'] ?? listIn(schema['examples'])[0]) : undefined;
  return node['example'] ?? valuesOf(node['examples'], document)[0] ?? own;
}

function valuesOf(examples: unknown, document: Node): readonly unknown[] {
  if (!isNode(examples)) return [];
  return Object.values(examples).flatMap((one) => {
    const example = followed(one, document);
    return isNode(example) && example['value'] !== undefined ? [example['value']] : [];
  });
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

/**
 * A value with the required properties of a schema; it need not be valid.
 * @param full levels with optional properties too
 */
function sampleOf(schema: unknown, level = 0, full = 0): unknown {
  if (!isNode(schema) || level > MAX_LEVELS) return 'text';
  const [given] = ['enum', 'examples'].flatMap((key) => listIn(schema[key]));
  const fixed = schema['const'] ?? given;
  if (fixed !== undefined) return fixed;
  const [choice] = ['oneOf', 'anyOf'].flatMap((key) => listIn(schema[key]));
  if (choice !== undefined && !isNode(schema['properties'])) return sampleOf(choice, level + 1, full);
  return Array.isArray(schema['allOf']) ? mergedSample(schema, level, full) : plainSample(schema, level, full);
}

function mergedSample({ allOf, ...rest }: Node, level: number, full: number): unknown {
  const parts = [...listIn(allOf), rest].map((part) => sampleOf(part, level + 1, full)).filter(isNode);
  return Object.assign({}, ...parts) as unknown;
}

function plainSample(schema: Node, level: number, full: number): unknown {
  const properties = isNode(schema['properties']) ? schema['properties'] : {};
  const [type = 'properties' in schema ? 'object' : 'string'] = [schema['type'] ?? []].flat() as string[];
  const names = level < full ? Object.keys(properties) : listIn(schema['required']).map(String);
  switch (type) {
    case 'object':
      return Object.fromEntries(names.map((name) => [name, sampleOf(properties[name], level + 1, full)]));
    case 'array':
      return [sampleOf(schema['items'], level + 1, full)];
    case 'integer':
    case 'number':
      return schema['minimum'] ?? 1;
    case 'boolean':
      return true;
    default:
      return sampleText(schema);
  }
}

const TEXTS: Readonly<Record<string, string>> = {
  date: '2024-05-17',
  'date-time': '2024-05-17T10:30:00Z',
  uuid: '3f2b8a4e-9c1d-4e6f-8a7b-1c2d3e4f5a6b',
  email: 'ann@shop.example',
  uri: 'https://shop.example/a',
  url: 'https://shop.example/a',
  byte: 'dGV4dA==',
};

function sampleText({ format, minLength, maxLength, pattern }: Node): string {
  // Ids of Twilio.
  const [, kind] = /^\^([A-Z]{2})\[0-9a-fA-F\]\{32\}\$$/.exec(String(pattern)) ?? [];
  if (kind !== undefined) return `${kind}${'0123456789abcdef'.repeat(2)}`;
  const text = TEXTS[String(format)] ?? 'te xt/1';
  const least = typeof minLength === 'number' ? Math.min(minLength, 1000) : 0;
  return text.padEnd(least, 'x').slice(0, typeof maxLength === 'number' ? maxLength : text.length + least);
}
