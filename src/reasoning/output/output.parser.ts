import { type JsonFault, parseExactJson, parseJson } from '../../common/index.js';
import type { ResponseFormat } from '../../llm/index.js';
import { outputCheckOf } from './output-check.factory.js';
import type { ParsedOutput } from './output.types.js';

const FENCE = '```';

/** Reads an answer that must have a format. A code fence around the JSON, with words around it or not, is passed over. */
export function parseOutput(text: string, format: ResponseFormat): ParsedOutput {
  const whole = parseJson(text.trim(), parseExactJson);
  const fenced = whole.ok ? null : insideFence(text);
  const parsed = fenced === null ? whole : parseJson(fenced, parseExactJson);
  if (!parsed.ok) return { kind: 'invalid', problem: problemOf(parsed.fault) };
  return outputCheckOf(format)(parsed.value);
}

/** What the first code fence of a text holds; a fence that is not closed ends with the text. */
function insideFence(text: string): string | null {
  const start = text.indexOf(FENCE);
  const line = text.indexOf('\n', start);
  if (start < 0 || line < 0) return null;
  const end = text.lastIndexOf(FENCE);
  return text.slice(line + 1, end > line ? end : undefined).trim();
}

function problemOf(fault: JsonFault): string {
  switch (fault.kind) {
    case 'syntax':
      return 'it is not JSON';
    case 'depth':
      return `it is nested more than ${fault.maxDepth} levels deep`;
    case 'forbidden_key':
      return `it has the key ${fault.path}, which is not allowed`;
  }
}
