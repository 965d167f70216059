import { isJsonObject, parseExactJson, parseJson, type JsonSchema } from '../../../kernel/index.js';
import type { ToolCall } from '../../../llm/index.js';
import type { Tool } from '../../../tool/index.js';
import { MAX_CALLS, MAX_PARAMETERS, TOO_MANY_CALLS, TOO_MANY_PARAMETERS } from '../call-limit.policy.js';
import type { RawCall, RawParameter } from './call.builder.js';
import { escapeAttribute, escapeText, unescapeText } from './entity.mapper.js';
import { readJsonCalls } from './json-call.parser.js';
import { readValue, typesOf, writeValue } from './value.mapper.js';

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
