import { AppError } from '../../errors/index.js';
import type { JsonSchema } from '../../kernel/json/index.js';
import { attempt } from '../../tool/index.js';
import { isJsonType } from '../header.policy.js';
import type { RestMethod } from '../rest-tool.types.js';
import { unmappable } from './openapi.error.js';
import type { OpenApiReferences } from './openapi-reference.mapper.js';
import type { OpenApiSchemas } from './openapi-schema.mapper.js';
import { isNode, type Node } from './openapi.types.js';

export type BodyKind = 'json' | 'form' | 'multipart' | 'text' | 'bytes';

/** The request body of an operation. */
export interface MappedBody {
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
  /** For bytes it may have wildcards: the type of the file is sent then. */
  readonly contentType: string;
  readonly kind: BodyKind;
  /** Names of the properties of a multipart body that are numbers of files. */
  readonly files: ReadonlySet<string>;
  /** `encoding` of the document, by property. */
  readonly encoding: Node;
}

/** Kinds from the best to the worst: JSON has types, a form has none. */
const KINDS: readonly (readonly [kind: BodyKind, isOne: (type: string) => boolean])[] = [
  ['json', (type) => /^application\/json\s*(?:;|$)/i.test(type)],
  ['json', isJsonType],
  ['form', (type) => /^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(type)],
  ['multipart', (type) => /^multipart\/form-data\s*(?:;|$)/i.test(type)],
  ['json', (type) => /^(?:\*|application)\/\*$/.test(type)],
  ['text', (type) => /^text\//i.test(type)],
];

/** Types of bodies that are bytes, whatever their schema is. */
const BYTES = /^(?:application\/(?:octet-stream|pdf|zip|gzip)|(?:image|audio|video|font)\/[\w.*+-]+)\s*(?:;|$)/i;
const FILE_NOTE = 'The number n of a file that a tool result shows as "[file n: …]".';
/** Keywords with alternatives. */
const CHOICES = ['anyOf', 'oneOf'];

/**
 * The body of an operation in the best media type that can be sent. `undefined` without a body, and for an optional one
 * of a GET or HEAD.
 * @throws AppError `TOOL_INVALID` if no media type can be sent
 */
export function mapBody(
  value: unknown,
  method: RestMethod,
  references: OpenApiReferences,
  schemas: OpenApiSchemas,
  where: string,
): MappedBody | undefined {
  if (value === undefined) return undefined;
  const place = `${where}: requestBody`;
  const { node } = references.resolve(value, place);
  const isRequired = node['required'] === true;
  if (method === 'GET' || method === 'HEAD') {
    if (!isRequired) return undefined;
    throw unmappable(place, `${method} has no body`);
  }
  const { description } = node;
  const reasons: string[] = [];
  for (const [kind, contentType, given] of candidatesIn(node['content'], place)) {
    const body = attempt(() => {
      const { node: media } = references.resolve(given, place);
      const plain = schemas.toJsonSchema(media['schema'] ?? {}, place);
      const described = { ...(typeof description === 'string' && { description }), ...(isNode(plain) && plain) };
      const { encoding } = media;
      return {
        schema: schemaOf(kind, contentType, described, place),
        encoding: isNode(encoding) ? encoding : {},
        files: new Set(kind === 'multipart' ? fileNames(described) : []),
      };
    }, reasons);
    if (!body) continue;
    return { ...body, isRequired, contentType: sentType(kind, contentType), kind };
  }
  throw new AppError('TOOL_INVALID', reasons.join('; '));
}

function sentType(kind: BodyKind, contentType: string): string {
  if (kind === 'bytes' || !contentType.includes('*')) return contentType;
  return kind === 'text' ? 'text/plain' : 'application/json';
}

/** The types of a body with their kinds, best first. */
function candidatesIn(content: unknown, place: string): (readonly [kind: BodyKind, type: string, media: unknown])[] {
  if (!isNode(content) || Object.keys(content).length === 0) throw unmappable(place, 'its type is missing');
  const types = Object.keys(content);
  const found = new Map<string, BodyKind>();
  for (const [kind, isOne] of KINDS) {
    for (const type of types.filter(isOne)) if (!found.has(type)) found.set(type, kind);
  }
  const others = types.filter((type) => type.includes('*') || !found.has(type));
  const all = [
    ...[...found].map(([type, kind]) => [kind, type] as const),
    ...others.map((type) => ['bytes', type] as const),
  ];
  return all.map(([kind, type]) => [kind, type, content[type]]);
}

/** @throws AppError `TOOL_INVALID` for a schema that does not fit the kind */
function schemaOf(kind: BodyKind, contentType: string, given: JsonSchema, place: string): JsonSchema {
  const [type] = [given['type']].flat();
  switch (kind) {
    case 'text':
      if (type === undefined) return { ...given, type: 'string' };
      if (type === 'string') return given;
      throw unmappable(place, `its text is of the type ${JSON.stringify(type)}`);
    case 'bytes':
      if (isFile(given) || BYTES.test(contentType)) return fileNumber(given);
      throw unmappable(place, `its type is ${contentType}, which cannot be sent`);
    case 'json':
      if (contentType.includes('*') && isFile(given)) throw unmappable(place, 'it is a file');
      return given;
    case 'form':
      return given;
    case 'multipart':
      return withFileNumbers(given);
  }
}

/** The schema of a number that refers to a file. */
function fileNumber({ type, description }: Node): JsonSchema {
  return {
    type: [type].flat().includes('null') ? ['integer', 'null'] : 'integer',
    minimum: 1,
    description: typeof description === 'string' ? `${description}\n${FILE_NOTE}` : FILE_NOTE,
  };
}

/**
 * A multipart body with numbers of files in place of files.
 * @param outer names of the files by the schemas around it for the same value
 */
function withFileNumbers(schema: JsonSchema, outer: readonly string[] = []): JsonSchema {
  const files = [...outer, ...partsFor(schema).flatMap(filesIn)];
  const { properties, additionalProperties, allOf } = schema;
  const inner = (part: unknown) => (isNode(part) ? withFileNumbers(part, files) : part);
  const mapped = Object.entries(isNode(properties) ? properties : {}).map(([name, property]) => [
    name,
    files.includes(name) ? toFileNumbers(property) : withoutFileChoices(property),
  ]);
  return {
    ...schema,
    ...(isNode(properties) && { properties: Object.fromEntries(mapped) as Node }),
    ...(isFile(additionalProperties) && { additionalProperties: false }),
    ...(Array.isArray(allOf) && { allOf: allOf.map(inner) }),
    ...mapChoices(schema, (choices) => choices.map(inner)),
  };
}

/** The names of the files of a multipart body. */
function fileNames(schema: JsonSchema): readonly string[] {
  const parts = partsFor(schema);
  const choices = parts.flatMap((part) => CHOICES.flatMap((keyword) => (part[keyword] ?? []) as unknown[]));
  return [...parts.flatMap(filesIn), ...choices.filter(isNode).flatMap(fileNames)];
}

/** A file, a list of files, or a choice of these, with numbers in place of files. */
function toFileNumbers(property: unknown): unknown {
  if (!isNode(property) || isNull(property)) return property;
  const { items, ...list } = property;
  if (isFile(items)) return { ...list, items: toFileNumbers(items) };
  const choices = mapChoices(property, (all) => all.map(toFileNumbers));
  return Object.keys(choices).length > 0 ? { ...property, ...choices } : fileNumber(property);
}

/** A schema and the parts of its `allOf`. */
function partsFor(schema: Node): readonly Node[] {
  const { allOf } = schema;
  return [schema, ...(Array.isArray(allOf) ? allOf.filter(isNode).flatMap(partsFor) : [])];
}

function filesIn({ properties }: Node): readonly string[] {
  return isNode(properties) ? Object.keys(properties).filter((name) => isFile(properties[name])) : [];
}

/** Whether a property can only be a file, a list of files, or null. */
function isFile(property: unknown): boolean {
  if (!isNode(property)) return false;
  const { format, contentMediaType, contentEncoding, items } = property;
  if (format === 'binary' || (typeof contentMediaType === 'string' && contentEncoding === undefined)) return true;
  if (isFile(items) || partsFor(property).slice(1).some(isFile)) return true;
  return CHOICES.map((keyword) => property[keyword])
    .filter((choices): choices is unknown[] => Array.isArray(choices))
    .some((choices) => choices.some(isFile) && choices.every((choice) => isFile(choice) || isNull(choice)));
}

/** A property, or a list, that may be something else than a file. */
function withoutFileChoices(property: unknown): unknown {
  if (!isNode(property)) return property;
  return {
    ...property,
    ...('items' in property && { items: withoutFileChoices(property['items']) }),
    ...mapChoices(property, (choices) => choices.filter((choice) => !isFile(choice)).map(withoutFileChoices)),
  };
}

function mapChoices(schema: Node, map: (choices: readonly unknown[]) => readonly unknown[]): Node {
  const lists = CHOICES.filter((keyword) => Array.isArray(schema[keyword]));
  return Object.fromEntries(lists.map((keyword) => [keyword, map(schema[keyword] as unknown[])]));
}

function isNull(schema: unknown): boolean {
  return isNode(schema) && schema['type'] === 'null';
}
