import { type JsonPointer, parsePointer, valueAt } from '../json-pointer.parser.js';
import { unmappable } from './openapi.error.js';
import { isNode, type Node } from './openapi.types.js';

/** The target of a reference, and the references that led there. */
export interface Resolved {
  readonly node: Node;
  readonly trail: readonly string[];
}

/** Follows references inside one document; never loads another document. */
export class OpenApiReferences {
  constructor(private readonly document: Node) {}

  /**
   * @param trail the references being resolved
   * @throws AppError `TOOL_INVALID` for an external, broken or circular reference
   */
  resolve(value: unknown, where: string, trail: readonly string[] = []): Resolved {
    if (!isNode(value)) throw unmappable(where, 'an object is expected here');
    const reference = value['$ref'];
    if (reference === undefined) return { node: value, trail };
    if (typeof reference !== 'string' || !reference.startsWith('#')) {
      throw unmappable(
        where,
        `it refers to ${JSON.stringify(reference)}, and only references inside the document and to readable files of its folder are followed`,
      );
    }
    if (trail.includes(reference)) {
      const round = [...trail.slice(trail.indexOf(reference)), reference].join(' → ');
      throw unmappable(where, `it refers to itself (${round}), so it has no target`);
    }
    const target = valueAt(this.document, pointerOf(reference, where));
    if (target === undefined) throw unmappable(where, `it refers to ${reference}, which does not exist`);
    return this.resolve(target, where, [...trail, reference]);
  }
}

/** RFC 6901, 6. */
function pointerOf(reference: string, where: string): JsonPointer {
  try {
    return parsePointer(decodeURIComponent(reference.slice(1)));
  } catch {
    throw unmappable(where, `it refers to ${reference}, which is not a valid reference (#/components/…)`);
  }
}
