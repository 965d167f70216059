import { parseJson, type JsonSchema } from '../../../common/index.js';
import type { ToolCall } from '../../../llm/index.js';
import type { Tool } from '../../../tool/index.js';
import type { RawCall } from './call.builder.js';
import { escapeAttribute, escapeText, unescapeText } from './entity.mapper.js';
import { readJsonCalls } from './json-call.parser.js';
import { readValue, typesOf, writeValue } from './value.mapper.js';

type NamedCall = Omit<ToolCall, 'id'>;

/** The calls of a reply, with ids that are unique in the run. */
export function toToolCalls(found: readonly RawCall[], tools: readonly Tool[], iteration: number): ToolCall[] {
  return found
    .flatMap((call) => toNamedCalls(call, tools))
    .map((call, index) => ({ id: `call_${iteration}_${index + 1}`, ...call }));
}

/** All calls of one message as a model would write them. */
export function writeCalls(calls: readonly ToolCall[], tools: readonly Tool[]): string {
  const invokes = calls.map((call) => writeCall(call, schemaOf(call.name, tools)));
  return ['<function_calls>', ...invokes, '</function_calls>'].join('\n');
}

function toNamedCalls(call: RawCall, tools: readonly Tool[]): readonly NamedCall[] {
  if (call.kind === 'json') return readJsonCalls(call.text);
  const { name, parameters, body } = call;
  const text = unescapeText(body.trim());
  if (parameters.length === 0 && text.startsWith('{')) return [{ name, arguments: text }];
  const schema = schemaOf(name, tools);
  const values = new Map<string, string>();
  for (const one of parameters) values.set(one.name, readValue(one.text, typesOf(schema, one.name), one.string));
  const members = [...values].map(([key, json]) => `${JSON.stringify(key)}:${json}`);
  return [{ name, arguments: `{${members.join(',')}}` }];
}

function writeCall(call: ToolCall, schema: JsonSchema | undefined): string {
  const start = `<invoke name="${escapeAttribute(call.name)}">`;
  return [start, ...writeArguments(call.arguments, schema), '</invoke>'].join('\n');
}

/** Arguments that are no JSON object are shown as they were: the model is to see its mistake. */
function writeArguments(text: string, schema: JsonSchema | undefined): readonly string[] {
  const parsed = parseJson(text);
  if (!parsed.ok || typeof parsed.value !== 'object' || parsed.value === null || Array.isArray(parsed.value))
    return text.trim() === '' ? [] : [escapeText(text)];
  return Object.entries(parsed.value).map(([name, value]) => {
    const written = writeValue(value, typesOf(schema, name));
    const hint = written.string === undefined ? '' : ` string="${written.string}"`;
    return `<parameter name="${escapeAttribute(name)}"${hint}>${written.text}</parameter>`;
  });
}

function schemaOf(name: string, tools: readonly Tool[]): JsonSchema | undefined {
  return tools.find(({ definition }) => definition.name === name)?.definition.inputSchema;
}
