import type { ToolCall } from '../../../llm/index.js';
import type { Tool } from '../../../tool/index.js';
import { saysNothing, withoutFences } from './action.parser.js';
import { parseKeywords, parseLooseObject } from './loose-json.parser.js';
import type { WantedCall } from './segment.builder.js';

const WORD = /[\w-]{1,64}/g;
const LONGEST_NAME = 200;

/** The call as the loop takes it; a name or an input that fits no tool stays as it is, for the executor to refuse. */
export function toToolCall({ name, input }: WantedCall, tools: readonly Tool[], id: string): ToolCall {
  const tool = findTool(name.slice(0, LONGEST_NAME), tools);
  return { id, name: tool?.definition.name ?? name, arguments: toArguments(input, tool) };
}

/** By its name, by its name in other letters, or as the only tool that the text names (`use the calculator tool`). */
function findTool(name: string, tools: readonly Tool[]): Tool | undefined {
  const wanted = name.toLowerCase();
  const exact = tools.find(({ definition }) => definition.name === name);
  if (exact) return exact;
  const alike = tools.filter(({ definition }) => definition.name.toLowerCase() === wanted);
  if (alike.length === 1) return alike[0];
  const words = new Set(wanted.match(WORD));
  const named = tools.filter(({ definition }) => words.has(definition.name.toLowerCase()));
  return named.length === 1 ? named[0] : undefined;
}

function toArguments(input: string, tool: Tool | undefined): string {
  const text = withoutFences(input);
  if (text.startsWith('{')) return readObject(text) ?? text;
  return tool ? (readPlain(text, schemaOf(tool)) ?? text) : text;
}

/** What a text without braces means to a tool of this shape. */
function readPlain(text: string, { properties, required }: InputShape): string | null {
  if (required.length === 0 && saysNothing(text)) return '{}';
  const isKeyword = KEYWORDS.test(text) && Object.hasOwn(properties, /^\w+/.exec(text)![0]);
  const keywords = isKeyword ? readKeywords(text) : null;
  if (keywords !== null) return keywords;
  const [only] = required;
  if (required.length !== 1 || only === undefined || typeOf(properties[only]) !== 'string') return null;
  return JSON.stringify({ [only]: toText(text) });
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

/** The object that the text begins with; prose behind it is the model talking on. */
function readObject(text: string): string | null {
  if (isObject(text)) return text;
  const loose = parseLooseObject(text);
  if (!loose) return null;
  const rest = loose.rest.trim();
  return rest === '' || !/^[{[,:}\]"'+*/=|&-]/.test(rest) ? loose.json : null;
}

function isObject(text: string): boolean {
  try {
    return typeof JSON.parse(text) === 'object';
  } catch {
    return false;
  }
}

/** A JSON string is what it says; any other text is itself. */
function toText(text: string): string {
  if (!text.startsWith('"') || !text.endsWith('"')) {
    return /^'[^']*'$/.test(text) ? text.slice(1, -1) : text;
  }
  try {
    return String(JSON.parse(text));
  } catch {
    return text;
  }
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
