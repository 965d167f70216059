import { isJsonObject, type JsonSchema, parseExactJson, parseJson } from '../../../kernel/json/index.js';
import type { ToolCall } from '../../../llm/chat/index.js';
import type { Tool } from '../../../tool/method/index.js';
import { MAX_CALLS, MAX_PARAMETERS, TOO_MANY_CALLS, TOO_MANY_PARAMETERS } from '../protocol.js';
import { mayBeJson } from '../json-text.policy.js';
import type { RawCall, RawParameter } from './call.builder.js';
import { escapeAttribute, escapeText, unescapeText } from './entity.mapper.js';
import { readValue, typesOf, writeValue } from './value.mapper.js';

interface JsonCall {
  readonly name: string;
  readonly arguments: string;
}

/** Keys under which models write the arguments of a call. */
const ARGUMENT_KEYS = ['arguments', 'parameters', 'args', 'input'] as const;

const NONE: readonly JsonCall[] = [];

/** Calls written as JSON: one object, an array, or one object a line. Other values are skipped. */
function readJsonCalls(text: string): readonly JsonCall[] {
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

type NamedCall = Omit<ToolCall, 'id'>;

/** The calls of a reply, with ids that are unique in the run. */
export function toToolCalls(found: readonly RawCall[], tools: readonly Tool[], iteration: number): ToolCall[] {
  const schemas = new Map(tools.map(({ definition }) => [definition.name, definition.inputSchema]));
  const calls: ToolCall[] = [];
  for (const call of found) {
    for (const { name, arguments: args } of toNamedCalls(call, schemas)) {
      if (calls.length > MAX_CALLS) return calls;
      const id = `call_${iteration}_${calls.length + 1}`;
      calls.push({ id, name, arguments: calls.length < MAX_CALLS ? args : TOO_MANY_CALLS });
    }
  }
  return calls;
}

/**
 * All calls of one message as a model would write them. Concatenation copies long texts only once, when the result is
 * read.
 */
export function writeCalls(calls: readonly ToolCall[], tools: readonly Tool[]): string {
  let block = '<function_calls>\n';
  for (const call of calls) block += `${writeCall(call, schemaOf(call.name, tools))}\n`;
  return `${block}</function_calls>`;
}

function toNamedCalls(call: RawCall, schemas: ReadonlyMap<string, JsonSchema>): readonly NamedCall[] {
  if (call.kind === 'json') return readJsonCalls(call.text);
  const { name, parameters, body } = call;
  if (parameters.length > MAX_PARAMETERS) return [{ name, arguments: TOO_MANY_PARAMETERS }];
  const isBody = parameters.length === 0;
  return [{ name, arguments: isBody ? toBodyArguments(body) : toArguments(parameters, schemas.get(name)) }];
}

function toBodyArguments(body: string): string {
  const text = unescapeText(body.trim());
  return text.startsWith('{') ? text : '{}';
}

/** Of parameters with the same name the last one counts. */
function toArguments(parameters: readonly RawParameter[], schema: JsonSchema | undefined): string {
  const last = new Map<string, RawParameter>();
  for (const one of parameters) last.set(one.name, one);
  const members = [...last.values()].map(({ name, text, string }) => {
    return `${JSON.stringify(name)}:${readValue(text, typesOf(schema, name), string)}`;
  });
  return `{${members.join(',')}}`;
}

function writeCall(call: ToolCall, schema: JsonSchema | undefined): string {
  let element = `<invoke name="${escapeAttribute(call.name)}">\n`;
  for (const parameter of writeArguments(call.arguments, schema)) element += `${parameter}\n`;
  return `${element}</invoke>`;
}

/** Arguments that are not a JSON object stay unchanged, so that the model sees its mistake. */
function writeArguments(text: string, schema: JsonSchema | undefined): readonly string[] {
  const parsed = parseJson(text, parseExactJson);
  if (!parsed.ok || !isJsonObject(parsed.value)) return text.trim() === '' ? [] : [escapeText(text)];
  return Object.entries(parsed.value).map(([name, value]) => {
    const written = writeValue(value, typesOf(schema, name));
    const hint = written.string === undefined ? '' : ` string="${written.string}"`;
    return `<parameter name="${escapeAttribute(name)}"${hint}>${written.text}</parameter>`;
  });
}

function schemaOf(name: string, tools: readonly Tool[]): JsonSchema | undefined {
  return tools.find(({ definition }) => definition.name === name)?.definition.inputSchema;
}
