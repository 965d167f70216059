import type { WireTool } from './tool.mapper.js';
import type { WireBlock, WireTurn } from './wire-block.types.js';

/** The parts of a request, in the order of Claude's cache: tools, system, messages. */
interface CachedParts {
  readonly tools?: readonly WireTool[];
  readonly system?: string;
  readonly messages: readonly WireTurn[];
}

const MARK = { cache_control: { type: 'ephemeral' } };
/** Blocks that cannot have a mark (platform.claude.com, "Prompt caching"). */
const UNMARKED: readonly string[] = ['thinking', 'redacted_thinking'];

/**
 * Marks the ends of prefixes that later requests of the run repeat: tools and system text, the last request, and this
 * one. Claude searches at most 20 blocks before a mark, and many parallel calls have more; a request may have four marks.
 * A single question without tools has no mark: writing to the cache costs more than input.
 */
export function withCacheMarks(parts: CachedParts): Record<string, unknown> {
  const { tools = [], system, messages } = parts;
  const isRepeated = tools.length > 0 || messages.some(({ role }) => role === 'assistant');
  if (!isRepeated) return { ...parts };
  return {
    ...parts,
    ...(system === undefined && tools.length > 0 && { tools: withMarkedEnd(tools) }),
    ...(system !== undefined && { system: [{ type: 'text', text: system, ...MARK }] }),
    messages: withMarkedUsers(messages),
  };
}

/** Marks the last two turns of the user. */
function withMarkedUsers(turns: readonly WireTurn[]): WireTurn[] {
  const users = turns.flatMap(({ role }, at) => (role === 'user' ? [at] : [])).slice(-2);
  return turns.map((turn, at) => (users.includes(at) ? { ...turn, content: withMarkedBlock(turn.content) } : turn));
}

function withMarkedBlock(blocks: readonly WireBlock[]): readonly WireBlock[] {
  const last = blocks.at(-1);
  return last === undefined || UNMARKED.includes(last.type) ? blocks : withMarkedEnd(blocks);
}

function withMarkedEnd<T extends object>(all: readonly T[]): T[] {
  return all.map((one, at) => (at === all.length - 1 ? { ...one, ...MARK } : one));
}
