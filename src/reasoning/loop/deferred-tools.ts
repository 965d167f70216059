import { indexTerms, queryTerms, rankByTerms } from '../../kernel/text/index.js';
import type { Message, ToolChoice } from '../../llm/chat/index.js';
import type { RunContext } from '../../run/context/index.js';
import { createToolNow, inputOf, type ToolResult } from '../../tool/index.js';
import type { InputSource } from '../../tool/input/index.js';
import type { Tool } from '../../tool/method/index.js';

const FIND_TOOLS = 'find_tools';
/** Name for an application that has a tool of the name above. */
const OTHER_NAME = 'find_deferred_tools';
/** Maximum tools of the first request beside the one that finds others. */
const MAX_FIRST = 11;
/** Maximum tools that one search finds; default and limit. */
const [FOUND, MAX_FOUND] = [5, 10];
const MAX_TERMS = 64;
/** Typical of schemas in English; Chinese has as many. */
const BYTES_PER_TOKEN = 4;
/** Maximum length of a description in the result of a search, and of the list of sources, in UTF-16 units. */
const [MAX_DESCRIPTION, MAX_SOURCES] = [200, 600];

const INPUT = {
  type: 'object',
  properties: {
    query: {
      type: 'string',
      pattern: String.raw`\S`,
      description: 'The task of the tool, or its name; in English, or in the language of the tools',
    },
    limit: {
      type: 'integer',
      minimum: 1,
      maximum: MAX_FOUND,
      description: `Maximum number of tools; default ${FOUND}`,
    },
  },
  required: ['query'],
};
let input: InputSource | undefined;

/** Place of the record below in the journal. */
const PLACE = 'deferred';

/** The first request of a run, recorded: later executions of the run may find other tools and servers. */
interface FirstTools {
  /** Names of the described tools. */
  readonly tools: readonly string[];
  readonly finder: { readonly name: string; readonly description: string };
}

/** The parts of a request that decide on its first tools. */
interface FirstRequest {
  readonly tools: readonly Tool[];
  readonly toolChoice?: ToolChoice;
  readonly namedTools?: readonly string[];
  readonly history: readonly Message[];
  readonly limits: { readonly maxTools?: number; readonly maxToolTokens?: number; readonly maxResultBytes: number };
}

interface FoundTool {
  readonly name: string;
  readonly description: string;
}

const tokens = new WeakMap<Tool, number>();
const terms = new WeakMap<Tool, readonly string[]>();

/**
 * The tools of a run with more tools than its limits permit. The first request describes some of them and `find_tools`.
 * The model can call a deferred tool after a search has found it: the tool is then appended to those of the run. The
 * recorded results of the searches determine the tools of a run, also after a crash.
 */
export class DeferredTools {
  readonly finder: Tool;
  /** The tools of the first request. */
  readonly offered: readonly Tool[];
  /** All deferred tools. */
  private readonly all: readonly Tool[];
  /** Those that the model has not found yet. */
  private readonly hidden: Map<string, Tool>;

  private constructor({ tools, limits }: FirstRequest, { tools: first, finder }: FirstTools) {
    this.all = tools.filter((tool) => !first.includes(nameOf(tool)));
    this.hidden = new Map(this.all.map((tool) => [nameOf(tool), tool]));
    this.finder = this.createFinder(finder, limits.maxResultBytes);
    const known = new Map(tools.map((tool) => [nameOf(tool), tool]));
    this.offered = [...first.flatMap((name) => known.get(name) ?? []), this.finder];
  }

  /** Defers tools of a run whose execution starts, if it has too many. A started run without a record has all its tools. */
  static async of(request: FirstRequest, run: RunContext): Promise<DeferredTools | null> {
    const { maxTools = Infinity, maxToolTokens = Infinity } = request.limits;
    if (request.tools.length <= maxTools && countTokens(request.tools) <= maxToolTokens) return null;
    const isStarted = run.isRecorded({ kind: 'model', place: '1' });
    if (isStarted && !run.isRecorded({ kind: 'value', place: PLACE })) return null;
    const first = firstOf(request, Math.min(MAX_FIRST, maxTools - 1), maxToolTokens);
    if (first.size === request.tools.length) return null;
    return new DeferredTools(request, await run.value(PLACE, () => toRecord(request, first)));
  }

  isFinder(name: string): boolean {
    return name === nameOf(this.finder);
  }

  /** The error for a call of a tool that must be found first; undefined for other calls. */
  refusal(name: string): string | undefined {
    if (!this.hidden.has(name)) return undefined;
    return `The tool "${name}" is not loaded yet: call ${nameOf(this.finder)} with its name first.`;
  }

  /** The tools of the result of a search that are new to the model, in the order of the result. */
  take(result: ToolResult | undefined): readonly Tool[] {
    const found = result?.success ? (result.result as { readonly tools?: unknown } | null)?.tools : undefined;
    if (!Array.isArray(found)) return [];
    return found.flatMap((one) => {
      const name = (one as Partial<FoundTool> | null)?.name ?? '';
      const tool = this.hidden.get(name);
      this.hidden.delete(name);
      return tool ? [tool] : [];
    });
  }

  private createFinder(described: FirstTools['finder'], maxResultBytes: number): Tool {
    const tool = createToolNow(
      { ...described, source: 'deferred tools', effect: 'read', private: false },
      () => (input ??= inputOf(INPUT)),
      (args) => {
        const { query, limit = FOUND } = args as { readonly query: string; readonly limit?: number };
        return fitted(this.search(query).slice(0, limit), maxResultBytes);
      },
    );
    return { ...tool, isDirect: true };
  }

  /** Tools that match a query, best first: those that it names, then by BM25 of names and descriptions. */
  private search(query: string): readonly Tool[] {
    const words = new Set(query.split(/[\s,;"'`]+/));
    const wanted = queryTerms(separated(query), MAX_TERMS);
    const texts = new Map(this.all.map((tool) => [nameOf(tool), { id: nameOf(tool), tokens: termsOf(tool), tool }]));
    const matching = rankByTerms(wanted, [...texts.values()])
      .map((id) => texts.get(id)!)
      .filter(({ tokens: own }) => wanted.some((term) => own.includes(term)));
    const named = this.all.filter((tool) => words.has(nameOf(tool)));
    return [...new Set([...named, ...matching.map(({ tool }) => tool)])];
  }
}

function toRecord({ tools }: FirstRequest, first: ReadonlySet<Tool>): FirstTools {
  const others = tools.filter((tool) => !first.has(tool));
  const description =
    `Finds tools by their purpose. ${others.length} more tools are not listed here: ${sourcesOf(others)}. ` +
    'Search before you conclude that no tool can do something. You can call the found tools afterwards.';
  const isTaken = tools.some((tool) => nameOf(tool) === FIND_TOOLS);
  return { tools: [...first].map(nameOf), finder: { name: isTaken ? OTHER_NAME : FIND_TOOLS, description } };
}

function nameOf({ definition }: Tool): string {
  return definition.name;
}

/**
 * The tools that are described from the start: that of `toolChoice`; the agents and the tools that the agent's definition
 * names; those that the history has called; then tools of the application itself. Tools of MCP servers and REST documents
 * are deferred.
 */
function firstOf({ tools, toolChoice, namedTools = [], history }: FirstRequest, most: number, maxTokens: number) {
  const chosen = typeof toolChoice === 'object' ? toolChoice.name : undefined;
  const named = new Set(namedTools);
  const called = new Set(history.flatMap((message) => (message.role === 'tool' ? [message.name] : [])));
  const rankOf = (tool: Tool): number => {
    if (nameOf(tool) === chosen) return 0;
    if (tool.child || named.has(nameOf(tool))) return 1;
    if (called.has(nameOf(tool))) return 2;
    return tool.metadata.origin ? 4 : 3;
  };
  const first = new Set<Tool>();
  let used = 0;
  const ranked = tools.map((tool) => ({ tool, rank: rankOf(tool) })).toSorted((a, b) => a.rank - b.rank);
  for (const { tool, rank } of ranked) {
    const isIn = rank < 4 && first.size < most && used + tokensOf(tool) <= maxTokens;
    if (rank > 0 && !isIn) continue;
    first.add(tool);
    used += tokensOf(tool);
  }
  return first;
}

function countTokens(tools: readonly Tool[]): number {
  return tools.reduce((sum, tool) => sum + tokensOf(tool), 0);
}

/** Tokens of a tool in a request, estimated by the bytes: a limit needs no vocabulary, whose loading takes 0.1 s. */
function tokensOf(tool: Tool): number {
  let count = tokens.get(tool);
  if (count === undefined) {
    const { name, description, inputSchema } = tool.definition;
    const bytes = Buffer.byteLength(JSON.stringify([name, description, inputSchema]));
    tokens.set(tool, (count = Math.ceil(bytes / BYTES_PER_TOKEN)));
  }
  return count;
}

/** Index terms of a tool; its name counts twice. */
function termsOf(tool: Tool): readonly string[] {
  let own = terms.get(tool);
  if (!own) {
    const name = separated(nameOf(tool));
    terms.set(tool, (own = indexTerms(`${name} ${name} ${tool.definition.description}`)));
  }
  return own;
}

/** Separates the words of `createIssue`; other separators are no letters. */
function separated(name: string): string {
  return name.replaceAll(/(?<=\p{Ll}|\d)(?=\p{Lu})/gu, ' ');
}

/** Where the tools come from, with their numbers, in the order of the names: servers connect in any order. */
function sourcesOf(tools: readonly Tool[]): string {
  const counts = new Map<string, number>();
  for (const { metadata } of tools) {
    const source = metadata.origin?.name ?? 'this application';
    counts.set(source, (counts.get(source) ?? 0) + 1);
  }
  const lines = [...counts].map(([source, count]) => `${source} (${count})`);
  const all = lines.toSorted((a, b) => (a < b ? -1 : 1)).join(', ');
  return all.length > MAX_SOURCES ? `${all.slice(0, MAX_SOURCES)}…` : all;
}

/** The result of a search: its tools must be readable from a result that is not cut. */
function fitted(
  found: readonly Tool[],
  maxBytes: number,
): { readonly tools: readonly FoundTool[]; readonly note?: string } {
  if (found.length === 0) return { tools: [], note: 'No tool matches: search with other words.' };
  for (let count = found.length; count > 1; count--) {
    const result = { tools: found.slice(0, count).map(toFound) };
    if (Buffer.byteLength(JSON.stringify(result)) <= maxBytes) return result;
  }
  const [best] = found;
  return { tools: [{ name: nameOf(best!), description: '' }] };
}

function toFound({ definition: { name, description } }: Tool): FoundTool {
  const [line = ''] = description.trim().split('\n');
  return { name, description: line.length > MAX_DESCRIPTION ? `${line.slice(0, MAX_DESCRIPTION)}…` : line };
}
