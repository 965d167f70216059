import { type JsonFault, type ParsedJson, parseExactJson, parseJson } from '../../kernel/json/index.js';
import type { ResponseFormat } from '../../llm/chat/index.js';
import type { ContentFilter, Filtered } from '../../security/content/index.js';
import { outputCheckOf, type ParsedOutput } from './format.policy.js';

const FENCE = '```';

/** Parses an answer with a required format. A code fence around the JSON, and text around the fence, is ignored. */
export async function parseOutput(text: string, format: ResponseFormat): Promise<ParsedOutput> {
  const { parsed } = readOutput(text);
  return parsed.ok ? outputCheckOf(format)(parsed.value) : { kind: 'invalid', problem: problemOf(parsed.fault) };
}

/** The value of an answer and the position of its JSON in the text; the value need not match the format. */
export function readOutput(text: string): {
  readonly parsed: ParsedJson;
  readonly start: number;
  readonly end: number;
} {
  const whole = parsedIn(text, 0, text.length);
  const fence = whole.parsed.ok ? null : insideFence(text);
  return fence ? parsedIn(text, fence.start, fence.end) : whole;
}

function parsedIn(text: string, start: number, end: number): ReturnType<typeof readOutput> {
  return { parsed: parseJson(text.slice(start, end).trim(), parseExactJson), start, end };
}

/** Position of the content of the first code fence; an unclosed fence ends with the text. */
function insideFence(text: string): { readonly start: number; readonly end: number } | null {
  const start = text.indexOf(FENCE);
  const line = text.indexOf('\n', start);
  if (start < 0 || line < 0) return null;
  const end = text.lastIndexOf(FENCE);
  return { start: line + 1, end: end > line ? end : text.length };
}

function problemOf(fault: JsonFault): string {
  switch (fault.kind) {
    case 'syntax':
      return 'it is not JSON';
    case 'depth':
      return `it is nested more than ${fault.maxDepth} levels deep`;
    case 'values':
      return `it has more than ${fault.maxValues} values`;
    case 'forbidden_key':
      return `it has the key ${fault.path}, which is not allowed`;
  }
}

/** Replacements of a masked number where a string (`"[cards]"`) does not fit the schema, in order of preference. */
const TYPED_MASKS = ['null', '0'];

/**
 * Filters an answer with a required format: its JSON by values, the text around the JSON as text. The text stays
 * byte-identical without a match; masked JSON stays valid JSON. A masked number becomes a string if the schema allows
 * one, else null, else 0: its field keeps its type.
 */
export async function screenAnswer(
  filter: ContentFilter,
  text: string,
  format: ResponseFormat,
): Promise<Filtered<string>> {
  const { parsed, start, end } = readOutput(text);
  if (!parsed.ok) return filter.text(text);
  const around = (json: Filtered<string>): Filtered<string> =>
    joinFiltered([
      [text.slice(0, start), filter.plain(text.slice(0, start))],
      [text.slice(start, end), json],
      [text.slice(end), filter.plain(text.slice(end))],
    ]);
  const json = text.slice(start, end);
  let answer = around(filter.jsonText(json));
  for (const mask of TYPED_MASKS) {
    if (answer.kind !== 'masked' || (await parseOutput(answer.value, format)).kind === 'valid') return answer;
    answer = around(filter.jsonText(json, () => mask));
  }
  return answer;
}

/** Joins filtered parts of a text. @param parts each as given and as filtered */
export function joinFiltered(parts: readonly (readonly [string, Filtered<string>])[]): Filtered<string> {
  const blocked = parts.flatMap(([, part]) => (part.kind === 'blocked' ? part.names : []));
  if (blocked.length > 0) return { kind: 'blocked', names: [...new Set(blocked)] };
  const names = parts.flatMap(([, part]) => (part.kind === 'masked' ? part.names : []));
  if (names.length === 0) return { kind: 'clean' };
  const value = parts.map(([given, part]) => (part.kind === 'masked' ? part.value : given)).join('');
  return { kind: 'masked', value, names: [...new Set(names)] };
}
