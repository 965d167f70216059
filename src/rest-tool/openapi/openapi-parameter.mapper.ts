import type { JsonSchema } from '../../kernel/json/index.js';
import { messageOf } from '../../errors/index.js';
import { attempt } from '../../tool/index.js';
import { isHeaderName, isJsonType, isReservedHeader } from '../header.policy.js';
import { unmappable } from './openapi.error.js';
import type { OpenApiReferences } from './openapi-reference.mapper.js';
import type { OpenApiSchemas } from './openapi-schema.mapper.js';
import { isNode, type Node } from './openapi.types.js';
import type { Serialization, Style } from './parameter-style.mapper.js';

/** A parameter of an operation as an argument of a tool. */
export interface MappedParameter extends Serialization {
  readonly name: string;
  readonly place: Place;
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
  /** Whether reserved characters are sent as they are. */
  readonly isReserved: boolean;
}

type Place = 'path' | 'query' | 'header' | 'cookie';

/** Mistakes of an operation and of its import. */
export interface OperationFaults {
  /** Parts that cannot be expressed, for which the operation is refused. */
  readonly refusals: string[];
  /** Mistakes of the import itself. */
  readonly mistakes: string[];
  /** Settings that the operation needs and the import does not give. */
  readonly needs: string[];
}

/** Header parameters that clients ignore: other parts of an operation, or the client itself, define them. */
const IGNORED_HEADERS = new Set(['accept', 'content-type', 'authorization', 'content-length', 'host']);
/** Styles per place; the first is the default. */
const PLACES: Readonly<Record<Place, readonly Style[]>> = {
  path: ['simple', 'label', 'matrix'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
  cookie: ['form', 'cookie'],
};
const EXPLODED = new Set<Style>(['form', 'cookie', 'deepObject']);

/** The parameters of one operation. */
export class OpenApiParameters {
  constructor(
    private readonly references: OpenApiReferences,
    private readonly schemas: OpenApiSchemas,
  ) {}

  /**
   * Maps the parameters of path and operation. An optional parameter that cannot be expressed is left out; one without
   * name or known place is not, since it may be a body.
   * @param omitted names of parameters to leave out
   */
  map(
    lists: readonly unknown[],
    omitted: readonly string[],
    where: string,
    { refusals, mistakes }: OperationFaults,
  ): readonly MappedParameter[] {
    const nodes = parametersIn(lists, this.references, where, refusals);
    mistakes.push(...omissionMistakes(nodes, omitted, where));
    return nodes.flatMap((node) => {
      const { name, in: place, required } = node;
      if (omitted.includes(String(name))) return [];
      if (place === 'header' && IGNORED_HEADERS.has(String(name).toLowerCase())) return [];
      try {
        return [this.toParameter(node, `${where}: parameter ${JSON.stringify(name)}`)];
      } catch (error) {
        if (required === true || place === 'path' || !isKnown(node)) refusals.push(messageOf(error));
        return [];
      }
    });
  }

  private toParameter(node: Node, where: string): MappedParameter {
    const { name, in: place, required, description, allowReserved } = node;
    const fault = faultOf(node);
    if (fault) throw unmappable(where, fault);
    const content = isNode(node['content']) ? Object.values(node['content'])[0] : undefined;
    const described = isNode(content) ? content['schema'] : node['schema'];
    const schema = this.schemas.toJsonSchema(described ?? {}, where);
    if (schema === false) throw unmappable(where, 'its schema accepts no value');
    return {
      name: String(name),
      place: place as Place,
      schema: { ...(schema === true ? {} : schema), ...(typeof description === 'string' && { description }) },
      isRequired: required === true || place === 'path',
      isReserved: allowReserved === true,
      ...serializationOf(node, PLACES[place as Place][0]!),
    };
  }
}

/**
 * The parameters of path and operation; the operation overrides by name and place.
 * @param lists `parameters` of the path, then of the operation
 * @param refusals receives broken references
 */
export function parametersIn(
  lists: readonly unknown[],
  references: OpenApiReferences,
  where: string,
  refusals: string[],
): readonly Node[] {
  const found = new Map<string, Node>();
  for (const list of lists) {
    for (const [index, value] of (Array.isArray(list) ? (list as unknown[]) : []).entries()) {
      const place = `${where}.parameters[${index}]`;
      const node = attempt(() => references.resolve(value, place).node, refusals);
      if (node) found.set(`${String(node['in'])} ${String(node['name'])}`, node);
    }
  }
  return [...found.values()];
}

/** `style` and `explode` of a parameter or of a property of a form. */
export function serializationOf({ style, explode, content }: Node, usual: Style): Serialization {
  if (content !== undefined) return { style: 'json', isExploded: false };
  const chosen = (style ?? usual) as Style;
  return { style: chosen, isExploded: typeof explode === 'boolean' ? explode : EXPLODED.has(chosen) };
}

function omissionMistakes(nodes: readonly Node[], omitted: readonly string[], where: string): string[] {
  return omitted.flatMap((name) => {
    const named = nodes.filter((node) => node['name'] === name);
    const isRequired =
      named.length > 0 && named.every(({ required, in: place }) => required === true || place === 'path');
    return isRequired ? [`${where}: parameter ${JSON.stringify(name)}: it is required and cannot be omitted`] : [];
  });
}

/**
 * Whether a parameter has a name and a place of OpenAPI 3. A name may be empty: published documents have such optional
 * parameters, which are left out.
 */
function isKnown({ name, in: place }: Node): boolean {
  const isPlace = typeof place === 'string' && (place === 'querystring' || Object.hasOwn(PLACES, place));
  return isPlace && typeof name === 'string';
}

/** An unsupported feature of a parameter, if any. */
function faultOf({ name, in: place, style, content }: Node): string | undefined {
  if (typeof name !== 'string' || name === '') return 'it has no name';
  if (typeof place !== 'string' || !Object.hasOwn(PLACES, place)) {
    return `it is in ${JSON.stringify(place)}, which a tool cannot set`;
  }
  if (style !== undefined && !PLACES[place as Place].includes(style as Style)) {
    return `its style ${JSON.stringify(style)} does not exist in ${place}`;
  }
  return nameFault(name, place as Place) ?? contentFault(content);
}

function nameFault(name: string, place: Place): string | undefined {
  if (place !== 'header' && place !== 'cookie') return undefined;
  if (!isHeaderName(name)) return 'its name is not a valid header name';
  return place === 'header' && isReservedHeader(name.toLowerCase())
    ? 'it is a header that a tool cannot set'
    : undefined;
}

function contentFault(content: unknown): string | undefined {
  if (content === undefined) return undefined;
  const types = isNode(content) ? Object.keys(content) : [];
  const isJson = types.length === 1 && isJsonType(types[0]!);
  return isJson ? undefined : `its content is ${types.join(', ') || 'missing'}, and only JSON is supported`;
}
