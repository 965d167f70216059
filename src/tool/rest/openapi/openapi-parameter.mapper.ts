import type { JsonSchema } from '../../../common/index.js';
import { attempt } from '../../attempt.policy.js';
import { unmappable } from './openapi.error.js';
import type { OpenApiReferences } from './openapi-reference.mapper.js';
import type { OpenApiSchemas } from './openapi-schema.mapper.js';
import { isNode, type Node } from './openapi.types.js';

/** A parameter of an operation as an argument of a tool. */
export interface MappedParameter {
  readonly name: string;
  readonly place: 'path' | 'query' | 'header';
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
  /** Whether a list repeats its name (`ids=1&ids=2`). */
  readonly isSpread: boolean;
}

/** Header parameters that clients must ignore according to the specification; other parts of an operation define them. */
const IGNORED_HEADERS = new Set(['accept', 'content-type', 'authorization']);
/** The supported style per place: the default one. */
const STYLES: Readonly<Record<string, string>> = { path: 'simple', query: 'form', header: 'simple' };

/** The parameters of one operation. */
export class OpenApiParameters {
  constructor(
    private readonly references: OpenApiReferences,
    private readonly schemas: OpenApiSchemas,
  ) {}

  /**
   * Maps the parameters of path and operation; the operation overrides by name and place. Mistakes are appended to
   * `problems`.
   * @param omitted names of parameters to leave out
   */
  map(
    lists: readonly unknown[],
    omitted: readonly string[],
    where: string,
    problems: string[],
  ): readonly MappedParameter[] {
    const found = new Map<string, { node: Node; where: string }>();
    for (const list of lists) this.collect(list, where, found, problems);
    const left = new Set(omitted);
    const kept = [...found.values()].filter(
      ({ node }) => !left.delete(String(node['name'])) || node['required'] === true,
    );
    problems.push(...[...left].map((name) => `${where}: it has no parameter ${JSON.stringify(name)} to omit`));
    return kept.flatMap(({ node, where: place }) => {
      if (node['in'] === 'header' && IGNORED_HEADERS.has(String(node['name']).toLowerCase())) return [];
      const parameter = attempt(() => this.toParameter(node, place, omitted), problems);
      return parameter ? [parameter] : [];
    });
  }

  private collect(
    list: unknown,
    where: string,
    found: Map<string, { node: Node; where: string }>,
    problems: string[],
  ): void {
    for (const [index, value] of (Array.isArray(list) ? (list as unknown[]) : []).entries()) {
      const resolved = attempt(() => this.references.resolve(value, `${where}.parameters[${index}]`), problems);
      if (!resolved) continue;
      const { node } = resolved;
      found.set(`${String(node['in'])} ${String(node['name'])}`, {
        node,
        where: `${where}: parameter ${JSON.stringify(node['name'])}`,
      });
    }
  }

  private toParameter(node: Node, where: string, omitted: readonly string[]): MappedParameter {
    const { name, in: place, required, explode, description } = node;
    if (omitted.includes(String(name))) throw unmappable(where, 'it is required and cannot be omitted');
    const fault = faultOf(node);
    if (fault) throw unmappable(where, `${fault}${omission(required)}`);
    const schema = this.schemas.toJsonSchema(node['schema'] ?? {}, where);
    if (typeof schema === 'boolean' || holdsObjects(schema)) {
      throw unmappable(where, `it contains an object, which cannot be encoded there${omission(required)}`);
    }
    return {
      name: String(name),
      place: place as MappedParameter['place'],
      schema: { ...schema, ...(typeof description === 'string' && { description }) },
      isRequired: required === true || place === 'path',
      isSpread: place === 'query' && explode !== false,
    };
  }
}

/** An unsupported feature of a parameter, if any. */
function faultOf({ name, in: place, style, content }: Node): string | undefined {
  if (typeof name !== 'string' || name === '') return 'it has no name';
  const known = typeof place === 'string' && Object.hasOwn(STYLES, place) ? STYLES[place] : undefined;
  if (known === undefined) return `it is in ${JSON.stringify(place)}, which a tool cannot set`;
  if (style !== undefined && style !== known) return `its style ${JSON.stringify(style)} is not supported`;
  return content === undefined ? undefined : 'it uses `content` (a serialised document), which is not supported';
}

function omission(required: unknown): string {
  return required === true ? '' : '; it is not required: name it in `omit`';
}

function holdsObjects(schema: JsonSchema): boolean {
  const types = [schema['type']].flat();
  if (types.includes('object') || 'properties' in schema) return true;
  const { items } = schema;
  return isNode(items) && [items['type']].flat().some((type) => type === 'object' || type === 'array');
}
