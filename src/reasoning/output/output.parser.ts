import { type JsonFault, parseExactJson, type ParsedJson, parseJson } from '../../kernel/index.js';
import type { ResponseFormat } from '../../llm/index.js';
import { outputCheckOf } from './output-check.factory.js';
import type { ParsedOutput } from './output.types.js';

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
