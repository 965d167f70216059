import { AppError } from '../../errors/index.js';
import type { Principal } from '../../kernel/index.js';
import type { ToolHandling, ToolRegistration } from '../tool-registration.types.js';
import type { ToolContext } from '../tool.types.js';

/** A part of a document that a retriever found. */
export interface Passage {
  readonly text: string;
  /** Origin for people and for citations: a title, a path or a URL. */
  readonly source: string;
  /** Relevance in the retriever's own scale; a greater one is better. */
  readonly score?: number;
}

export interface RetrieveOptions {
  /** Maximum number of passages. */
  readonly limit: number;
  /** The run's principal: return only passages that it may read. */
  readonly principal: Principal;
  /** Aborted by a cancel and by the time limit of the call. */
  readonly signal: AbortSignal;
}

/** The port to a search in documents: full text, vectors, or a service. */
export abstract class Retriever {
  /** @returns the best passages first @throws any error; the model receives its message */
  abstract retrieve(query: string, options: RetrieveOptions): Promise<readonly Passage[]>;
}

/** Options of a tool that searches; its handling may be changed as for every tool. */
export interface RetrieverToolOptions extends Pick<
  ToolHandling,
  'timeoutMs' | 'retries' | 'cacheTtlMs' | 'concurrency' | 'egress' | 'untrusted' | 'private'
> {
  /** Name of the tool, such as `search_handbook`. */
  readonly name: string;
  /** Content of the documents, for the model: when to search in them. */
  readonly description: string;
  /** Maximum number of passages of a search, 1 to 50; default 5. */
  readonly limit?: number;
}

const MAX_LIMIT = 50;
const DEFAULT_LIMIT = 5;

/**
 * A tool that searches with a retriever. Its results are untrusted and private unless the options say otherwise, and its
 * calls carry no data out; set `egress` for a retriever of another party.
 * @throws AppError `TOOL_INVALID` for a wrong limit
 */
export function retrieverTool(retriever: Retriever, options: RetrieverToolOptions): ToolRegistration {
  const { name, description, limit = DEFAULT_LIMIT, ...handling } = options;
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT)
    throw new AppError(
      'TOOL_INVALID',
      `The limit of tool "${name}" is ${limit}: give an integer from 1 to ${MAX_LIMIT}.`,
    );
  return {
    egress: false,
    untrusted: true,
    ...handling,
    name,
    description,
    effect: 'read',
    source: `retriever of "${name}"`,
    parameters: {
      type: 'object',
      properties: { query: { type: 'string', minLength: 1, description: 'The question, or words to search for.' } },
      required: ['query'],
      additionalProperties: false,
    },
    async handler({ query }: { readonly query: string }, { principal, signal }: ToolContext) {
      const passages = await retriever.retrieve(query, { limit, principal, signal });
      return { passages: passages.slice(0, limit) };
    },
  };
}
