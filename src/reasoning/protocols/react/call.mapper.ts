import type { ToolCall } from '../../../llm/chat/index.js';
import type { Tool } from '../../../tool/method/index.js';
import { MAX_CALLS, TOO_MANY_CALLS } from '../protocol.js';
import { saysNothing, tryParse } from './action.parser.js';
import { withoutFences } from './fence.parser.js';
import { parseKeywords, parseLooseObject, parseStringBody } from './loose-json.parser.js';
import type { WantedCall } from './segment.builder.js';

const WORD = /[\w-]{1,64}/g;
const LONGEST_NAME = 200;

/** Maps actions to tool calls; a name or input that fits no tool stays unchanged, and the executor rejects it. */
export function toToolCalls(wanted: readonly WantedCall[], tools: readonly Tool[], iteration: number): ToolCall[] {
  const names = new ToolNames(tools);
  return wanted.map(({ name, input }, index) => {
    const tool = names.find(name.slice(0, LONGEST_NAME));
    const args = index < MAX_CALLS ? toArguments(input, tool) : TOO_MANY_CALLS;
    return { id: `call_${iteration}_${index + 1}`, name: tool?.definition.name ?? name, arguments: args };
  });
}

/**
 * Finds a tool by its name, ignoring case if necessary, or as the only tool that a text names (`use the search tool`).
 */
class ToolNames {
  private readonly exact: ReadonlyMap<string, Tool>;
  private readonly alike: ReadonlyMap<string, readonly Tool[]>;

  constructor(tools: readonly Tool[]) {
    this.exact = new Map(tools.map((tool) => [tool.definition.name, tool]));
    this.alike = Map.groupBy(tools, ({ definition }) => definition.name.toLowerCase());
  }

  find(text: string): Tool | undefined {
    return this.exact.get(text) ?? this.findIn(text.toLowerCase());
  }

  private findIn(text: string): Tool | undefined {
    const [tool, ...others] = this.alike.get(text) ?? [];
    if (tool && others.length === 0) return tool;
    const named = new Set<Tool>();
    for (const word of text.match(WORD) ?? []) for (const one of this.alike.get(word) ?? []) named.add(one);
    return named.size === 1 ? [...named][0] : undefined;
  }
}

function toArguments(input: string, tool: Tool | undefined): string {
  const text = withoutFences(input);
  if (text.startsWith('{')) return readObject(text) ?? text;
  return tool ? (readPlain(text, schemaOf(tool)) ?? text) : text;
}

/** Arguments from text without braces, for a tool with this schema; null if they are ambiguous. */
function readPlain(text: string, { properties, required }: InputShape): string | null {
  if (required.length === 0 && saysNothing(text)) return '{}';
  const isKeyword = KEYWORDS.test(text) && Object.hasOwn(properties, /^\w+/.exec(text)![0]);
  const keywords = isKeyword ? readKeywords(text) : null;
  if (keywords !== null) return keywords;
  const [only] = required;
  if (required.length !== 1 || only === undefined || typeOf(properties[only]) !== 'string') return null;
  return `{${JSON.stringify(only)}:${JSON.stringify(toText(text))}}`;
}

const KEYWORDS = /^[A-Za-z_]\w{0,63}[ \t]{0,2}[=:：]/;

function readKeywords(text: string): string | null {
  const listed = parseKeywords(text);
  if (listed !== null) return listed;
  const loose = parseLooseObject(`{${text}}`);
  if (loose && loose.rest === '') return loose.json;
  const match = KEYWORDS.exec(text)!;
  const value = text.slice(match[0].length).trim();
  if (value === '' || /[=:：]/.test(value)) return null;
  return JSON.stringify({ [match[0].slice(0, -1).trim()]: value });
}

/** The object at the start of the text; prose after it is ignored. */
function readObject(text: string): string | null {
  if (tryParse(text) !== undefined) return text;
  const loose = parseLooseObject(text);
  if (!loose) return null;
  const rest = loose.rest.trim();
  return rest === '' || !/^[{[,:}\]"'+*/=|&-]/.test(rest) ? loose.json : null;
}

/** Decodes a quoted string; other text stays unchanged. */
function toText(text: string): string {
  if (/^'[^']*'$/.test(text)) return text.slice(1, -1);
  const isQuoted = text.length > 1 && text.startsWith('"') && text.endsWith('"');
  return (isQuoted ? parseStringBody(text.slice(1, -1)) : null) ?? text;
}

interface InputShape {
  readonly properties: Record<string, unknown>;
  readonly required: readonly string[];
}

function schemaOf({ definition }: Tool): InputShape {
  const { properties, required } = definition.inputSchema;
  return {
    properties: typeof properties === 'object' && properties !== null ? (properties as Record<string, unknown>) : {},
    required: Array.isArray(required) ? (required as string[]) : [],
  };
}

function typeOf(schema: unknown): unknown {
  return typeof schema === 'object' && schema !== null && 'type' in schema ? schema.type : undefined;
}
