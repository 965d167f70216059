import type { ResponseFormat } from '../../llm/index.js';
import type { ContentFilter, Filtered } from '../../security/index.js';
import { parseOutput, readOutput } from './output.parser.js';

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
