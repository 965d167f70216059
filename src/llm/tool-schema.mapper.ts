import { isJsonObject, type JsonSchema } from '../kernel/json/index.js';
import type { ChatRequest, ModelCapabilities, ResponseFormat, ToolSpec } from './chat/chat.types.js';
import type { Message } from './chat/message.types.js';
import { toOpenApi } from './open-api-schema.mapper.js';

/**
 * The format as an instruction, for a model that does not enforce it. It contains "JSON", which some JSON modes
 * require.
 */
export function describeFormat(format: ResponseFormat): string {
  const wanted =
    format === 'json'
      ? 'one JSON object and nothing else: no words around it, no code fence.'
      : 'JSON that fits the JSON Schema below and nothing else: no words around it, no code fence, not the schema itself.';
  const command = `Your final answer must be ${wanted}`;
  return format === 'json' ? command : `${command}\n\n${JSON.stringify(format.schema)}`;
}

/** Appends the format to the system prompt. */
export function withFormat(messages: readonly Message[], format: ResponseFormat): readonly Message[] {
  const description = describeFormat(format);
  const [first, ...rest] = messages;
  if (first?.role !== 'system') return [{ role: 'system', content: description }, ...messages];
  return [{ ...first, content: `${first.content}\n\n${description}` }, ...rest];
}

/** For a model without a JSON mode, replaces `responseFormat` by an instruction. */
export function fitFormat(request: ChatRequest, { jsonMode }: ModelCapabilities): ChatRequest {
  const { responseFormat, messages, ...rest } = request;
  if (responseFormat === undefined || jsonMode) return request;
  return { ...rest, messages: withFormat(messages, responseFormat) };
}

/** Requirements of a provider on the definitions of tools, besides an object without a union at the top. */
export interface ToolRules {
  /** Names of tools; by default 1 to 64 letters, digits, _ and -. */
  readonly name?: RegExp;
  /** Maximum nesting of schemas; a tool with a deeper one cannot be expressed. */
  readonly maxLevels?: number;
  /** Maximum number of tools in a request; unlimited by default. */
  readonly maxTools?: number;
  /** Maximum length of a description, in UTF-16 units. */
  readonly maxDescription?: number;
  /** Names of the properties at the top. */
  readonly propertyName?: RegExp;
  /** Schemas are those of OpenAPI 3.0: few keywords, no references, one type each, and enums of texts only. */
  readonly isOpenApi?: boolean;
  /** Every schema has a type, beside no union, and defines its required properties. */
  readonly isTyped?: boolean;
}

/** A tool as a provider accepts it. Calls are validated by the tool's own schema. */
export interface FittedTool {
  readonly description: string;
  readonly schema: JsonSchema;
}

type Node = Readonly<Record<string, unknown>>;

const UNIONS = ['anyOf', 'oneOf', 'allOf'];
const AT_TOP = [...UNIONS, 'enum', 'not'];
const LISTS = [...UNIONS, 'prefixItems'];
const MAPS = ['properties', 'patternProperties', '$defs', 'definitions'];
const DIRECT = ['items', 'additionalProperties', 'not', 'if', 'then', 'else', 'contains'];
const TYPING = ['type', ...UNIONS, '$ref', 'enum', 'const'];
/** Maximum number of schemas in a tool without references. */
const MAX_INLINED = 2000;
const ANY = { anyOf: ['string', 'number', 'boolean', 'object'].map((type) => ({ type })) };

/**
 * Adapts a tool to a provider. The description states the constraints that the schema must not have.
 * @throws Error if the tool cannot be expressed
 */
export function fitTool({ description, inputSchema }: ToolSpec, rules: ToolRules): FittedTool {
  const notes: string[] = [];
  const closed = rules.isOpenApi ? withoutReferences(inputSchema) : inputSchema;
  const whole = withoutUnions(resolve(closed, closed), notes);
  const named = withValidNames(whole, rules, notes);
  const schema = mapSchemas(named, (node) => fitNode(node, rules)) as JsonSchema;
  assertLevels(schema, rules.maxLevels);
  return { description: shorten([description, ...notes].join('\n'), rules.maxDescription), schema };
}

function assertLevels(schema: Node, most = Infinity, level = 1): void {
  if (level > most) throw new Error(`its schema is nested more than ${most} levels deep`);
  mapMembers(schema, (inner) => {
    if (isJsonObject(inner)) assertLevels(inner, most, level + 1);
    return inner;
  });
}

/** Replaces a reference to a definition by its target. */
function resolve(schema: Node, root: Node, seen: readonly unknown[] = []): Node {
  const { $ref, ...rest } = schema;
  const [, place, name] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(String($ref)) ?? [];
  const target = place && isJsonObject(root[place]) ? root[place][name!] : undefined;
  if (!isJsonObject(target) || seen.includes($ref)) return schema;
  return resolve({ ...target, ...rest }, root, [...seen, $ref]);
}

/** A schema with its definitions in place of references; a recursive one ends as any object. */
function withoutReferences(schema: Node): Node {
  if (!JSON.stringify(schema).includes('"$ref"')) return schema;
  let nodes = 0;
  const inline = (node: Node, outer: readonly unknown[]): Node => {
    if (++nodes > MAX_INLINED) throw new Error('its schema is too large without references');
    const { $ref } = node;
    if (outer.includes($ref)) return { type: 'object', description: `Has the form of ${String($ref)} around it.` };
    const { $defs: _named, definitions: _older, ...whole } = resolve(node, schema);
    const inner = $ref === undefined ? outer : [...outer, $ref];
    return mapMembers(whole, (one) => (isJsonObject(one) ? inline(one, inner) : one));
  };
  return inline(schema, []);
}

/** The properties of a schema and of its alternatives. */
function propertiesOf(schema: Node, root: Node, seen = new Set<Node>()): Node {
  if (seen.has(schema)) return {};
  seen.add(schema);
  const whole = resolve(schema, root);
  const branches = UNIONS.flatMap((key) => whole[key]).filter(isJsonObject);
  const all = branches.map((branch) => propertiesOf(branch, root, seen));
  return Object.assign({}, ...all, whole['properties']) as Node;
}

/** An object without a union at the top; it has the properties of all alternatives. */
function withoutUnions(schema: Node, notes: string[]): Node {
  const unions = Object.fromEntries(Object.entries(schema).filter(([key]) => AT_TOP.includes(key)));
  if (schema['type'] === 'object' && isJsonObject(schema['properties']) && Object.keys(unions).length === 0) {
    return schema;
  }
  const rest = Object.fromEntries(Object.entries(schema).filter(([key]) => !AT_TOP.includes(key)));
  if (Object.keys(unions).length > 0) notes.push(`The input must also match ${JSON.stringify(unions)}.`);
  return { ...rest, type: 'object', properties: propertiesOf(schema, schema) };
}

/** Moves properties with other names to the description; a model can write them nevertheless. */
function withValidNames(schema: Node, { propertyName }: ToolRules, notes: string[]): Node {
  const properties = schema['properties'] as Node;
  const invalid = propertyName ? Object.keys(properties).filter((name) => !propertyName.test(name)) : [];
  if (invalid.length === 0) return schema;
  const isValid = (name: unknown) => !invalid.includes(String(name));
  for (const name of invalid)
    notes.push(`Further property ${JSON.stringify(name)}: ${JSON.stringify(properties[name])}`);
  const { additionalProperties: _closed, required, ...rest } = schema;
  const valid = Object.fromEntries(Object.entries(properties).filter(([name]) => isValid(name)));
  return { ...rest, properties: valid, ...(Array.isArray(required) && { required: required.filter(isValid) }) };
}

function shorten(text: string, most: number = Infinity): string {
  return text.length > most ? `${text.slice(0, most - 1).toWellFormed()}…` : text;
}

/** Maps a schema, then all schemas in the result. Returns the same schema if nothing changes. */
function mapSchemas(schema: Node, map: (node: Node) => Node): Node {
  return mapMembers(map(schema), (value) => (isJsonObject(value) ? mapSchemas(value, map) : value));
}

/** Maps the schemas directly in a schema. */
function mapMembers(schema: Node, mapOne: (value: unknown) => unknown): Node {
  const changed: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) {
    const mapped = mapMember(key, value, mapOne);
    if (mapped !== value) changed[key] = mapped;
  }
  return Object.keys(changed).length === 0 ? schema : { ...schema, ...changed };
}

function mapMember(key: string, value: unknown, mapOne: (value: unknown) => unknown): unknown {
  if (DIRECT.includes(key)) return mapOne(value);
  if (LISTS.includes(key) && Array.isArray(value)) {
    const mapped = value.map(mapOne);
    return mapped.some((one, at) => one !== value[at]) ? mapped : value;
  }
  if (!MAPS.includes(key) || !isJsonObject(value)) return value;
  const mapped = Object.entries(value).map(([name, one]) => [name, mapOne(one)] as const);
  return mapped.some(([name, one]) => one !== value[name]) ? Object.fromEntries(mapped) : value;
}

function fitNode(node: Node, { isOpenApi, isTyped }: ToolRules): Node {
  const isList = [node['type']].flat().includes('array') && node['items'] === undefined;
  const listed = isList ? { ...node, items: {} } : node;
  const open = isOpenApi ? toTextEnum(toOneType(toOpenApi(listed))) : listed;
  return isTyped ? toTyped(open) : open;
}

/** `["string", "null"]` becomes a nullable text, several types a union. */
function toOneType(node: Node): Node {
  const { type, ...rest } = node;
  if (!Array.isArray(type)) return node;
  const types = type.filter((one) => one !== 'null');
  if (types.length === 0) return { ...rest, type: 'null' };
  const nullable = types.length < type.length && { nullable: true };
  if (types.length === 1) return { ...rest, type: types[0] as unknown, ...nullable };
  return { ...rest, anyOf: types.map((one: unknown) => ({ type: one })), ...nullable };
}

function toTextEnum(node: Node): Node {
  const { enum: values, ...rest } = node;
  if (!Array.isArray(values)) return node;
  const isText = values.every((value) => typeof value === 'string');
  if (isText) return node['type'] === 'string' ? node : { ...node, type: 'string' };
  const note = `One of ${values.map((value) => JSON.stringify(value)).join(', ')}.`;
  return { ...rest, description: typeof node['description'] === 'string' ? `${node['description']} ${note}` : note };
}

function toTyped(node: Node): Node {
  const { type, ...rest } = node;
  const union = rest['anyOf'];
  if (Array.isArray(union) && type !== undefined) {
    return { ...rest, anyOf: union.map((one: unknown) => (isJsonObject(one) ? { type, ...one } : one)) };
  }
  if (!TYPING.some((key) => key in node)) return { ...node, ...ANY };
  return withRequired(node);
}

function withRequired(node: Node): Node {
  const { required } = node;
  const properties = isJsonObject(node['properties']) ? node['properties'] : {};
  const missing = Array.isArray(required) ? required.filter((name) => properties[String(name)] === undefined) : [];
  if (missing.length === 0) return node;
  return { ...node, properties: { ...properties, ...Object.fromEntries(missing.map((name: unknown) => [name, ANY])) } };
}
