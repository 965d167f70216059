import type { OfflineAnswer, OfflineParameter, OfflineQuestion, OfflineTool } from './offline-rule.types.js';
import { lacksArguments, noTool } from './offline-text.mapper.js';
import { maskQuotations } from './quoted-text.parser.js';

/** The requests for these tools have rules of their own. */
const PLANNED: ReadonlySet<string> = new Set(['calculator', 'get_timestamp', 'string_tools']);
/** `call weather Oslo`, `调用 weather {"input":"Oslo"}`. */
const CALL =
  /^\s*(?:(?:please )?(?:call|use|run)\s+(?:the )?(?:tool )?|(?:请)?(?:调用|使用|运行)\s*(?:工具)?\s*)[`"“']?([\w.-]+)[`"”']?(?:\s+tool\b|\s*工具)?\s*(?:with\b|[:：,，])?\s*(.*)$/is;
const WORD = /[\p{Script=Latin}\p{N}]+/gu;
const BEFORE_ARGUMENT = /^[\s:：,，、]*(?:(?:in|of|for|about|at|on|to|with|from|by)\b|[在的是])?\s*/i;
const BEFORE_SUBJECT =
  /^[\s,，]*(?:(?:please|what(?:'s|’s| is| are)?|how(?:'s|’s| is)?|show|tell|give|me|the|is|a)\b\s*|请|查询|查一下|查|看看|告诉我|帮我)/i;
const AFTER_ARGUMENT = /(?:[,，]?\s*please)?[\s?？.。!！]*$/i;
const AFTER_SUBJECT = /(?:['’]s|的)?[\s(（]*$/i;
/** Marks after a name, such as a closing parenthesis, are no argument. */
const ONLY_MARKS = /^[^\p{L}\p{N}\ue000-\ue0ff]*$/u;

/** A call of a tool by its name. An unknown name is another kind of request. */
export function findNamedCall({ text, tools, isChinese }: OfflineQuestion): OfflineAnswer | undefined {
  const [, name = '', rest = ''] = CALL.exec(text) ?? [];
  const tool = toolNamed(name, tools);
  return tool && callWith(tool, rest.trim(), isChinese);
}

/** The answer to a call of an unknown tool. */
export function findUnknownCall({ text, tools, isChinese }: OfflineQuestion): OfflineAnswer | undefined {
  const [, name] = CALL.exec(text) ?? [];
  return name === undefined ? undefined : { kind: 'say', text: noTool(name, [...tools.keys()], isChinese) };
}

/** A question with the name, or all words of the name, of exactly one tool with a single string parameter. */
export function findMentionedTool({ text, tools, isChinese }: OfflineQuestion): OfflineAnswer | undefined {
  const { masked, unmask } = maskQuotations(text);
  const found = [...tools.values()].flatMap((tool) => {
    const place = PLANNED.has(tool.name) || mainParameter(tool)?.type !== 'string' ? undefined : findName(tool, masked);
    return place ? [{ tool, ...place }] : [];
  });
  // A name that contains another tool's name, such as `weather_forecast` beside `weather`, is the longer match.
  const longest = Math.max(...found.map(({ words }) => words));
  const best = found.filter(({ words }) => words === longest);
  const [only] = best;
  if (!only || best.length > 1) return undefined;
  const after = masked.slice(only.to).replace(BEFORE_ARGUMENT, '').replace(AFTER_ARGUMENT, '');
  const argument = ONLY_MARKS.test(after) ? subjectOf(masked.slice(0, only.from)) : after;
  return callWith(only.tool, unmask(argument).trim(), isChinese);
}

function subjectOf(text: string): string {
  let subject = text.replace(AFTER_SUBJECT, '');
  for (let shorter = subject; ; subject = shorter) {
    shorter = subject.replace(BEFORE_SUBJECT, '');
    if (shorter === subject) return subject;
  }
}

/** The place of a tool's name in a text; the words of the name can be apart. */
function findName({ name }: OfflineTool, text: string): { from: number; to: number; words: number } | undefined {
  const wanted = new Set(
    name
      .replace(/(?<=[a-z])(?=[A-Z])/g, ' ')
      .toLowerCase()
      .match(WORD),
  );
  const places = new Map<string, { from: number; to: number }>();
  for (const { 0: word, index } of text.matchAll(WORD)) {
    // `getWeather` in the text is the words of the name in one.
    const parts = word.toLowerCase() === name.toLowerCase() ? [...wanted] : [word.toLowerCase()];
    for (const part of parts) {
      if (wanted.has(part)) places.set(part, { from: index, to: index + word.length });
    }
  }
  if (wanted.size === 0 || places.size < wanted.size) return undefined;
  const all = [...places.values()];
  return {
    from: Math.min(...all.map(({ from }) => from)),
    to: Math.max(...all.map(({ to }) => to)),
    words: wanted.size,
  };
}

function toolNamed(name: string, tools: OfflineQuestion['tools']): OfflineTool | undefined {
  const same = (one: string) => one.toLowerCase().replaceAll('-', '_') === name.toLowerCase().replaceAll('-', '_');
  return tools.get(name) ?? [...tools.values()].find((tool) => same(tool.name));
}

/** The parameter that takes a text without a name: the only required one, or the only one. */
function mainParameter({ parameters }: OfflineTool): OfflineParameter | undefined {
  const required = parameters.filter(({ isRequired }) => isRequired);
  const candidates = required.length > 0 ? required : parameters;
  return candidates.length === 1 ? candidates[0] : undefined;
}

function callWith(tool: OfflineTool, given: string, isChinese: boolean): OfflineAnswer {
  const input = toArguments(tool, given);
  return input
    ? { kind: 'call', calls: [{ tool: tool.name, arguments: input, name: `${tool.name}(${given})` }] }
    : { kind: 'say', text: lacksArguments(tool, isChinese) };
}

function toArguments(tool: OfflineTool, given: string): Record<string, unknown> | undefined {
  if (given === '') return tool.parameters.some(({ isRequired }) => isRequired) ? undefined : {};
  if (given.startsWith('{')) return toObject(given);
  const parameter = mainParameter(tool);
  if (!parameter) return undefined;
  const value = parameter.type === 'string' ? withoutMarks(given) : toValue(given);
  return value === undefined ? undefined : { [parameter.name]: value };
}

function toObject(text: string): Record<string, unknown> | undefined {
  const value = toValue(text);
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
}

function toValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Removes the marks of a text that is one quotation. */
function withoutMarks(text: string): string {
  const { masked, unmask } = maskQuotations(text);
  return masked.length === 1 ? unmask(masked) : text;
}
