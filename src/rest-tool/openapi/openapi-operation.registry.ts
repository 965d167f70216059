import { AppError, messageOf } from '../../errors/index.js';
import { REST_METHODS, type RestMethod } from '../rest-tool.types.js';
import { toOperationNames } from './openapi-name.mapper.js';
import { parametersIn } from './openapi-parameter.mapper.js';
import type { OpenApiReferences } from './openapi-reference.mapper.js';
import { isNode, type Node, type OpenApiOperation, type OpenApiRefusal } from './openapi.types.js';

/** An operation and its location in the document. */
export interface FoundOperation {
  readonly node: Node;
  readonly item: Node;
  readonly path: string;
  readonly method: string;
  /** Undefined if the document gives none. */
  readonly operationId: string | undefined;
  /** Name of its tool. */
  readonly name: string;
  /** `get /pets/{id}`, for error messages. */
  readonly where: string;
}

/** A selected operation with its changes of the document. */
export interface SelectedOperation {
  readonly operation: FoundOperation;
  readonly changes: Omit<OpenApiOperation, 'operationId' | 'tag' | 'path'>;
}

/** Further fields of a path item with operations: OpenAPI 3.0 and 3.2. They are listed, and no tool can call them. */
const OTHER_METHODS = ['OPTIONS', 'TRACE', 'QUERY'];
const MAX_LISTED = 20;

/** The operations of a document and their selection. */
export class OpenApiOperationRegistry {
  private readonly operations: readonly FoundOperation[];
  /** Paths whose operations are unknown. */
  readonly broken: OpenApiRefusal[] = [];

  /** @param prefix of the names of tools */
  constructor(
    document: Node,
    private readonly references: OpenApiReferences,
    prefix: string,
  ) {
    const found = operationsIn(document, references, this.broken);
    const names = toOperationNames(found, prefix);
    this.operations = found.map((one, index) => ({ ...one, name: names[index]! }));
  }

  /** `operationId`s that several operations have. */
  get repeated(): readonly string[] {
    const ids = this.operations.flatMap(({ operationId }) => operationId ?? []);
    return [...new Set(ids.filter((id, index) => ids.indexOf(id) !== index))];
  }

  /**
   * Selects operations, in the order of the document; by default all.
   * @throws AppError `TOOL_INVALID` for a selection that matches nothing, a name for several operations, or a parameter to omit
   * that no operation has
   */
  select(selection: readonly (string | OpenApiOperation)[] | undefined): readonly SelectedOperation[] {
    const given = selection ?? [];
    const exclusions = given.filter((one) => typeof one === 'string').filter((one) => one.startsWith('!'));
    const inclusions = given.filter((one) => typeof one !== 'string' || !exclusions.includes(one));
    const problems: string[] = [];
    const chosen = this.included(inclusions, problems);
    for (const one of exclusions) {
      const matches = this.matching(one.slice(1));
      if (matches.length === 0) problems.push(this.unmatched(JSON.stringify(one)));
      for (const operation of matches) chosen.delete(operation);
    }
    if (problems.length > 0) throw new AppError('TOOL_INVALID', problems.join('; '));
    return this.operations.flatMap((operation) => {
      const changes = chosen.get(operation);
      return changes ? [{ operation, changes }] : [];
    });
  }

  /** All operations without any inclusion. Mistakes are appended to `problems`. */
  private included(
    inclusions: readonly (string | OpenApiOperation)[],
    problems: string[],
  ): Map<FoundOperation, SelectedOperation['changes']> {
    if (inclusions.length === 0) return new Map(this.operations.map((operation) => [operation, {}]));
    const chosen = new Map<FoundOperation, SelectedOperation['changes']>();
    for (const one of inclusions) {
      const { changes, matches, text } = this.resolve(one);
      problems.push(...this.mistakesOf(text, matches, changes));
      for (const operation of matches) chosen.set(operation, { ...chosen.get(operation), ...changes });
    }
    return chosen;
  }

  private mistakesOf(
    text: string,
    matches: readonly FoundOperation[],
    { name, omit = [] }: SelectedOperation['changes'],
  ): readonly string[] {
    if (matches.length === 0) return [this.unmatched(text)];
    const unknown = omit.filter((one) => !matches.some((operation) => this.hasParameter(operation, one)));
    return [
      ...(matches.length > 1 && name !== undefined
        ? [`${text} selects ${matches.length} operations, and "name" names one`]
        : []),
      ...unknown.map((one) => `${text} selects no operation with a parameter ${JSON.stringify(one)} to omit`),
    ];
  }

  private hasParameter({ item, node, where }: FoundOperation, name: string): boolean {
    const parameters = parametersIn([item['parameters'], node['parameters']], this.references, where, []);
    return parameters.some((parameter) => parameter['name'] === name);
  }

  private resolve(one: string | OpenApiOperation): {
    readonly text: string;
    readonly matches: readonly FoundOperation[];
    readonly changes: SelectedOperation['changes'];
  } {
    if (typeof one === 'string') return { text: JSON.stringify(one), matches: this.matching(one), changes: {} };
    const { operationId, tag, path, ...changes } = one;
    const [key, pattern] = Object.entries({ operationId, tag, path }).find(([, value]) => value !== undefined)!;
    const matches =
      key === 'operationId' ? this.withId(pattern!) : this.matching(key === 'tag' ? `tag:${pattern!}` : pattern!);
    return { text: `${key} ${JSON.stringify(pattern)}`, matches, changes };
  }

  /** By `operationId`, `tag:…`, path, or method and path; an exact `operationId` takes precedence. */
  private matching(pattern: string): readonly FoundOperation[] {
    const exact = this.operations.filter(({ operationId }) => operationId === pattern);
    if (exact.length > 0) return exact;
    const [, tag] = /^tag:(.*)$/s.exec(pattern) ?? [];
    if (tag !== undefined) return this.operations.filter(({ node }) => tagsOf(node).some(wildcard(tag)));
    const [, method, path] = /^(?:(\S+) +)?(\/.*)$/s.exec(pattern) ?? [];
    if (path === undefined) return this.withId(pattern);
    const isAt = wildcard(path);
    const isBy = wildcard((method ?? '*').toUpperCase());
    return this.operations.filter((one) => isAt(one.path) && isBy(one.method));
  }

  /** An operation without `operationId` has the name of its tool as id. */
  private withId(pattern: string): readonly FoundOperation[] {
    const isIt = wildcard(pattern);
    return this.operations.filter(({ operationId, name }) => isIt(operationId ?? name));
  }

  private unmatched(text: string): string {
    const known = this.operations.map(({ operationId, name }) => operationId ?? name);
    const listed = known.slice(0, MAX_LISTED).join(', ');
    const more = known.length > MAX_LISTED ? `, and ${known.length - MAX_LISTED} more` : '';
    return `${text}: the document has no such operation (it has: ${listed || 'none'}${more})`;
  }
}

/** Whether an operation can be a tool by its method. */
export function isRestMethod(method: string): method is RestMethod {
  return (REST_METHODS as readonly string[]).includes(method);
}

function operationsIn(
  document: Node,
  references: OpenApiReferences,
  broken: OpenApiRefusal[],
): readonly Omit<FoundOperation, 'name'>[] {
  const paths = isNode(document['paths']) ? document['paths'] : {};
  return Object.entries(paths).flatMap(([path, value]) => {
    const item = itemOf(value, references, path, broken);
    if (!item) return [];
    const own = [...REST_METHODS, ...OTHER_METHODS].map((method) => [method, item[method.toLowerCase()]] as const);
    const others = isNode(item['additionalOperations']) ? Object.entries(item['additionalOperations']) : [];
    return [...own, ...others].flatMap(([method, node]) => {
      if (!isNode(node)) return [];
      const { operationId: id } = node;
      const operationId = typeof id === 'string' && id.trim() !== '' ? id : undefined;
      return [{ node, item, path, method, operationId, where: `${method.toLowerCase()} ${path}` }];
    });
  });
}

/** `undefined` for a path item with a broken reference, which is appended to `broken`. */
function itemOf(
  value: unknown,
  references: OpenApiReferences,
  path: string,
  broken: OpenApiRefusal[],
): Node | undefined {
  if (!isNode(value)) return undefined;
  try {
    const { node } = references.resolve(value, path);
    const { $ref: _reference, ...siblings } = value;
    return { ...node, ...siblings };
  } catch (error) {
    broken.push({ operation: path, reason: messageOf(error).replace(`${path}: `, '') });
    return undefined;
  }
}

function tagsOf(node: Node): readonly string[] {
  const { tags } = node;
  return Array.isArray(tags) ? tags.map(String) : [];
}

/** Compares whole texts; `*` in the pattern matches any characters. */
function wildcard(pattern: string): (text: string) => boolean {
  const parts = pattern.split('*');
  const [first = '', ...rest] = parts;
  if (rest.length === 0) return (text) => text === pattern;
  const last = rest.pop()!;
  return (text) => {
    if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
    const end = text.length - last.length;
    let at = first.length;
    for (const part of rest) {
      const found = text.indexOf(part, at);
      if (found === -1 || found + part.length > end) return false;
      at = found + part.length;
    }
    return true;
  };
}
