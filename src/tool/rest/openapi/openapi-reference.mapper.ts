import { type JsonPointer, parsePointer, valueAt } from '../json-pointer.parser.js';
import { unmappable } from './openapi.error.js';
import { isNode, type Node } from './openapi.types.js';

/** What is behind a reference, and which ones led there. */
export interface Resolved {
  readonly node: Node;
  readonly trail: readonly string[];
}

/** Follows references inside of one document; none is ever loaded from elsewhere. */
export class OpenApiReferences {
  constructor(private readonly document: Node) {}

  /**
   * @param trail the references that are being resolved already
   * @throws AppError `TOOL_INVALID` for one that leads out of the document, nowhere, or back to where it came from
   */
  resolve(value: unknown, where: string, trail: readonly string[] = []): Resolved {
    if (!isNode(value)) throw unmappable(where, 'an object is expected here');
    const reference = value['$ref'];
    if (reference === undefined) return { node: value, trail };
    if (typeof reference !== 'string' || !reference.startsWith('#')) {
      throw unmappable(
        where,
        `it refers to ${JSON.stringify(reference)}, and only references inside of the document (#/…) are followed`,
      );
    }
    if (trail.includes(reference)) {
      const round = [...trail.slice(trail.indexOf(reference)), reference].join(' → ');
      throw unmappable(where, `it refers to itself (${round}), and arguments cannot be described without end`);
    }
    const target = valueAt(this.document, pointerOf(reference, where));
    if (target === undefined) throw unmappable(where, `it refers to ${reference}, and nothing is there`);
    return this.resolve(target, where, [...trail, reference]);
  }
}

/** RFC 6901, 6. */
function pointerOf(reference: string, where: string): JsonPointer {
  try {
    return parsePointer(decodeURIComponent(reference.slice(1)));
  } catch {
    throw unmappable(where, `it refers to ${reference}, which is no place in a document (#/components/…)`);
  }
}
