import { parseExactJson, parseJson } from '../../../kernel/index.js';
import { MAX_CALLS } from '../call-limit.policy.js';
import { mayBeJson } from '../json-text.policy.js';

interface JsonCall {
  readonly name: string;
  readonly arguments: string;
}

/** Keys under which models write the arguments of a call. */
const ARGUMENT_KEYS = ['arguments', 'parameters', 'args', 'input'] as const;

const NONE: readonly JsonCall[] = [];

/** Calls written as JSON: one object, an array, or one object a line. Other values are skipped. */
export function readJsonCalls(text: string): readonly JsonCall[] {
  const json = text.trim();
  const whole = readJson(json);
  if (whole.length > 0 || !json.includes('\n')) return whole;
  const calls: JsonCall[] = [];
  for (let start = 0, end = 0; end < json.length && calls.length <= MAX_CALLS; start = end + 1) {
    const index = json.indexOf('\n', start);
    end = index < 0 ? json.length : index;
    for (const call of readJson(json.slice(start, end).trim())) calls.push(call);
  }
  return calls;
}

/** Text without a closing bracket or a string is not parsed: a parser error is more expensive than this check. */
function readJson(json: string): readonly JsonCall[] {
  if ((!json.endsWith('}') && !json.endsWith(']')) || !json.includes('"') || !mayBeJson(json)) return NONE;
  const parsed = parseJson(json, parseExactJson);
  return parsed.ok ? toCalls(parsed.value) : NONE;
}

function toCalls(value: unknown): readonly JsonCall[] {
  if (Array.isArray(value)) return value.flatMap(toCalls);
  if (!isRecord(value)) return [];
  if (isRecord(value['function'])) return toCalls(value['function']);
  const name = value['name'] ?? value['tool'] ?? value['function'];
  return typeof name === 'string' && name !== '' ? [{ name, arguments: argumentsOf(value) }] : [];
}

function argumentsOf(call: Readonly<Record<string, unknown>>): string {
  const key = ARGUMENT_KEYS.find((one) => call[one] !== undefined && call[one] !== null);
  if (key === undefined) return '{}';
  const args = call[key];
  return typeof args === 'string' ? args : JSON.stringify(args);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
