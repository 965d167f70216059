import { AppError, loadPackage, messageOf } from '../../errors/index.js';
import { describeJsonFault, parseJson, readText } from '../../kernel/json/index.js';
import { withFiles } from './external-reference.loader.js';
import { OpenApiReferences } from './openapi-reference.mapper.js';
import { isNode, type Node } from './openapi.types.js';

/** Maximum values that YAML aliases add to a document, which is copied without them. */
const MAX_ALIASED_VALUES = 1_000_000;
const SUPPORTED = 'Swagger 2.0 and OpenAPI 3.0 to 3.2 are supported';
/** Members that name the version of other formats. */
const OTHER_FORMATS: Readonly<Record<string, string>> = {
  asyncapi: 'AsyncAPI',
  arazzo: 'Arazzo',
  overlay: 'OpenAPI Overlay',
  raml: 'RAML',
  swaggerVersion: 'Swagger',
  discoveryVersion: 'Google Discovery',
  smithy: 'Smithy',
};

/**
 * Reads an OpenAPI document (Swagger 2.0, OpenAPI 3.0 to 3.2) from a file (JSON or YAML), or uses a parsed one. Swagger is
 * converted to OpenAPI 3.0.
 * @throws AppError `TOOL_INVALID`
 */
export async function loadOpenApi(given: string | object): Promise<Node> {
  const source = typeof given === 'string' ? given : 'the document';
  const document = typeof given === 'string' ? await readFile(given) : given;
  const format = formatOf(document);
  if (!isNode(document) || format === undefined) {
    throw new AppError('TOOL_INVALID', `${source} has ${otherFormatOf(document)}; ${SUPPORTED}`);
  }
  const whole = typeof given === 'string' ? await withFiles(document, given, readFile) : document;
  return format === 'openapi' ? whole : converted(whole, source);
}

function formatOf(document: unknown): 'openapi' | 'swagger' | undefined {
  if (!isNode(document)) return undefined;
  const { openapi, swagger } = document;
  if (typeof openapi === 'string' && /^3\.[0-2](?:\.|$)/.test(openapi)) return 'openapi';
  return openapi === undefined && String(swagger) === '2.0' ? 'swagger' : undefined;
}

function otherFormatOf(document: unknown): string {
  const none = 'no OpenAPI version';
  if (!isNode(document)) return none;
  const version = (name: string) => `${name} ${JSON.stringify(document[name])}`;
  if (document['openapi'] !== undefined) return version('openapi');
  if (document['swagger'] !== undefined) return version('swagger');
  const other = Object.keys(OTHER_FORMATS).find((name) => document[name] !== undefined);
  return other === undefined ? none : `the format ${OTHER_FORMATS[other]!} ${String(document[other])}`;
}

/** @throws AppError `TOOL_INVALID` for a document that the converter cannot read */
async function converted(document: Node, source: string): Promise<Node> {
  const { upgrade } = await loadPackage(
    '@scalar/openapi-upgrader',
    `Swagger 2.0 (${source})`,
    () => import('@scalar/openapi-upgrader'),
  );
  try {
    return upgrade(structuredClone(withParameters(document)), '3.0');
  } catch (cause) {
    throw new AppError('TOOL_INVALID', `${source} cannot be converted to OpenAPI 3.0: ${messageOf(cause)}`, { cause });
  }
}

/**
 * A Swagger document with its path items and parameters in place of references, and with the body parameters of a path in
 * its operations: the converter follows no reference, and reads the members of a path in their order.
 */
function withParameters(document: Node): Node {
  const references = new OpenApiReferences(document);
  const paths = Object.entries(isNode(document['paths']) ? document['paths'] : {}).map(([path, value]) => {
    const item = targetOf(value, references);
    if (!isNode(item) || !isNode(value) || item['$ref'] !== undefined) return [path, value];
    const { $ref: _reference, ...siblings } = value;
    return [path, pathItemOf({ ...item, ...siblings }, references)];
  });
  return { ...document, paths: Object.fromEntries(paths) as Node };
}

function pathItemOf(item: Node, references: OpenApiReferences): Node {
  const shared = parametersOf(item, references);
  const bodies = shared.filter(isBody);
  const members = Object.entries(item).map(([key, value]) => {
    if (key === 'parameters') return [key, shared.filter((one) => !isBody(one))];
    if (!isNode(value)) return [key, value];
    const own = parametersOf(value, references);
    const inherited = bodies.filter((body) => !own.some((one) => replacesBody(one, body)));
    return [key, { ...value, parameters: [...inherited, ...own] }];
  });
  return Object.fromEntries(members) as Node;
}

/** A parameter without place stops the converter, and it drops a form field without name: both get an unknown place. */
function parametersOf({ parameters }: Node, references: OpenApiReferences): readonly Node[] {
  return (Array.isArray(parameters) ? (parameters as unknown[]) : []).map((value) => {
    const node = targetOf(value, references);
    if (!isNode(node)) return { in: 'undefined' };
    if (node['$ref'] !== undefined) return node;
    const isNameless = node['in'] === 'formData' && typeof node['name'] !== 'string';
    return { ...node, in: isNameless ? 'undefined' : String(node['in']) };
  });
}

/** The value itself if its reference has no target: its operation is refused later. */
function targetOf(value: unknown, references: OpenApiReferences): unknown {
  try {
    return references.resolve(value, 'the document').node;
  } catch {
    return value;
  }
}

function isBody({ in: place }: Node): boolean {
  return place === 'body' || place === 'formData';
}

/** An operation has one body; fields of a form differ by name. */
function replacesBody(own: Node, shared: Node): boolean {
  return isBody(own) && (own['in'] !== shared['in'] || own['in'] === 'body' || own['name'] === shared['name']);
}

async function readFile(path: string): Promise<unknown> {
  const text = read(path);
  if (text.trimStart().startsWith('{')) {
    const parsed = parseJson(text);
    if (parsed.ok) return parsed.value;
    throw new AppError('TOOL_INVALID', `${path} is not JSON (${describeJsonFault(parsed.fault, text)})`);
  }
  const { load } = await import('js-yaml');
  try {
    const document = load(text);
    checkAliases(document);
    return document;
  } catch (cause) {
    throw new AppError('TOOL_INVALID', `${path} is not usable YAML: ${messageOf(cause).split('\n')[0]}`, { cause });
  }
}

/** @throws Error for YAML aliases that contain themselves, or add too many values */
function checkAliases(document: unknown): void {
  /** Values in an object with every alias as a copy; undefined while they are counted. */
  const sizes = new Map<object, number | undefined>();
  let written = 0;
  const sizeOf = (value: unknown): number => {
    const isObject = typeof value === 'object' && value !== null;
    const known = isObject ? sizes.get(value) : undefined;
    if (known !== undefined) return known;
    written += 1;
    if (!isObject) return 1;
    if (sizes.has(value)) throw new Error('an alias contains itself');
    sizes.set(value, undefined);
    const size = Object.values(value).reduce((sum: number, member) => sum + sizeOf(member), 1);
    sizes.set(value, size);
    return size;
  };
  if (sizeOf(document) - written <= MAX_ALIASED_VALUES) return;
  throw new Error(`its aliases add more than ${MAX_ALIASED_VALUES.toLocaleString('en')} values`);
}

function read(path: string): string {
  try {
    return readText(path);
  } catch (cause) {
    throw new AppError('TOOL_INVALID', `${path} cannot be read: ${messageOf(cause)}`, { cause });
  }
}
