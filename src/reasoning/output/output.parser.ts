import { type JsonFault, parseExactJson, type ParsedJson, parseJson } from '../../common/index.js';
import type { ResponseFormat } from '../../llm/index.js';
import { outputCheckOf } from './output-check.factory.js';
import type { ParsedOutput } from './output.types.js';

const FENCE = '```';

/** Reads an answer that must have a format. A code fence around the JSON, with words around it or not, is passed over. */
export function parseOutput(text: string, format: ResponseFormat): ParsedOutput {
  const { parsed } = readOutput(text);
  return parsed.ok ? outputCheckOf(format)(parsed.value) : { kind: 'invalid', problem: problemOf(parsed.fault) };
}

/** The value of an answer and where its JSON is in the text; the answer need not fit its format. */
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

/** Where the first code fence of a text has its content; a fence that is not closed ends with the text. */
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
    case 'forbidden_key':
      return `it has the key ${fault.path}, which is not allowed`;
  }
}
