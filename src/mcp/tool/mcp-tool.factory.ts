import type { Tool as McpTool } from '@modelcontextprotocol/client';
import { AppError } from '../../errors/index.js';
import { canonicalJson, isJsonObject, type JsonSchema } from '../../kernel/json/index.js';
import { createBoundedCheck } from '../../tool/input/index.js';
import type { Tool } from '../../tool/method/index.js';
import { McpCalls } from '../call/mcp-call.executor.js';
import { callBy, type ChannelOf, effectOf, egressOf, originOf } from './content-tool.factory.js';
import { McpError } from '../mcp.error.js';
import type { McpServer } from '../mcp-server.types.js';
import type { UsableTool } from '../trust/judged-tool.types.js';

/** Keywords whose value is a schema, or a list of schemas. */
const NESTED = new Set([
  'additionalProperties',
  'allOf',
  'anyOf',
  'contains',
  'else',
  'if',
  'items',
  'not',
  'oneOf',
  'prefixItems',
  'then',
]);
/** Keywords whose value has schemas by names. */
const NAMED = new Set(['$defs', 'definitions', 'dependentSchemas', 'patternProperties', 'properties']);

/**
 * Converts a server's tool to a tool of Jackdaw. Its schemas stay as they are: not closed, and without added
 * defaults; a property with a default may be missing.
 * @param name the tool's name in Jackdaw
 * @throws AppError `TOOL_INVALID` for a schema that cannot be used
 */
export function createMcpTool(name: string, usable: UsableTool, server: McpServer, channelOf: ChannelOf): Tool {
  const { tool, waiting, warnings } = usable;
  const inputSchema: JsonSchema = tool.inputSchema;
  const { outputSchema } = waiting ?? tool;
  const check = createBoundedCheck(withoutRequiredDefaults(inputSchema), 'arguments', 'its input');
  const checkOutput = outputSchema && createBoundedCheck(withoutRequiredDefaults(outputSchema), 'result', 'its output');
  const effect = effectOf(tool, server);
  const calls = new McpCalls({ ...tool, outputSchema }, server, effect);
  const called: Pick<Tool, 'invoke' | 'checkOutput'> = {
    invoke: (input, context) => callBy(channelOf, context, (channel) => calls.make(channel, input, context)),
    ...(checkOutput && { checkOutput }),
  };
  const { approval, timeoutMs, isStateful, isUntrusted, isPrivate } = server;
  return {
    definition: { name, description: describe(tool, server), inputSchema, ...shownOutput(usable) },
    metadata: {
      effect,
      source: `MCP server "${server.name}"`,
      timeoutMs,
      egress: egressOf(tool, server),
      // Only the definition was scanned and pinned. The results of a call remain untrusted.
      untrusted: isUntrusted,
      private: isPrivate,
      origin: originOf(server, server.areHintsBelieved && tool.annotations?.readOnlyHint === true),
      isReturnForeign: true,
      ...(approval && { approval }),
      ...(isStateful && { state: {} }),
      ...(warnings && { warnings }),
      ...appOf(tool, server.name),
    },
    validate: (args) => check(args),
    ...(waiting ? namingChange(called, server) : called),
  };
}

function appOf({ _meta: meta }: McpTool, server: string): Pick<Tool['metadata'], 'app'> {
  if (!meta) return {};
  const { ui, 'ui/resourceUri': flatUri } = meta;
  const { resourceUri = flatUri, visibility } = isJsonObject(ui) ? (ui as Readonly<Record<string, unknown>>) : {};
  const isView = typeof resourceUri === 'string' && resourceUri.startsWith('ui://');
  const isForModels = !Array.isArray(visibility) || visibility.includes('model');
  return { app: { server, meta, isForModels, ...(isView && { uri: resourceUri }) } };
}

/** The output schema, unless a different one waits: it describes no results, and the listed one is not accepted. */
function shownOutput({ tool, waiting }: UsableTool): Pick<Tool['definition'], 'outputSchema'> {
  const { outputSchema } = tool;
  if (!outputSchema) return {};
  return waiting && canonicalJson(outputSchema) !== canonicalJson(waiting.outputSchema) ? {} : { outputSchema };
}

/** A failed call names the waiting change, which may be its cause. */
function namingChange(tool: Pick<Tool, 'invoke' | 'checkOutput'>, { name }: McpServer): typeof tool {
  const { invoke, checkOutput } = tool;
  const note = `[The server has changed the definition of this tool, and the change waits for an admin: POST /api/mcp/servers/${name}/accept. The accepted definition is still in use.]`;
  return {
    invoke: async (input, context) => {
      try {
        return await invoke(input, context);
      } catch (error) {
        if (context.signal.aborted || !(error instanceof AppError) || error.code === 'TOOL_HELD') throw error;
        throw withNote(error, note);
      }
    },
    ...(checkOutput && {
      checkOutput: async (result) => {
        const checked = await checkOutput(result);
        return checked.valid ? checked : { ...checked, reason: `${checked.reason}\n${note}` };
      },
    }),
  };
}

function withNote(error: AppError, note: string): AppError {
  const text = `${error.message}\n${note}`;
  const { details, isRetryable } = error;
  if (error instanceof McpError) return new McpError(error.code, text, details, { cause: error, isRetryable });
  return new AppError(error.code, text, { cause: error, isRetryable, ...(details && { details }) });
}

/** A model needs a description. */
function describe({ name, title, description, annotations }: McpTool, server: McpServer): string {
  if (description !== undefined && description.trim() !== '') return description;
  return title ?? annotations?.title ?? `${name} of ${server.name}`;
}

/**
 * A schema that does not require the properties with a `default`. The libraries of many servers list them as required,
 * although the server fills them itself (zod's JSON Schema of outputs).
 */
function withoutRequiredDefaults(schema: JsonSchema): JsonSchema {
  return relaxed(schema) as JsonSchema;
}

function relaxed(given: unknown): unknown {
  if (Array.isArray(given)) return given.map(relaxed);
  if (!isJsonObject(given)) return given;
  const { properties, required } = given;
  return Object.fromEntries(
    Object.entries(given).map(([key, value]) => {
      if (NESTED.has(key)) return [key, relaxed(value)];
      if (NAMED.has(key)) return [key, isJsonObject(value) ? byNames(value) : value];
      return [key, key === 'required' && isJsonObject(properties) ? stillRequired(required, properties) : value];
    }),
  );
}

function byNames(schemas: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, relaxed(schema)]));
}

function stillRequired(required: unknown, properties: Readonly<Record<string, unknown>>): unknown {
  if (!Array.isArray(required)) return required;
  return required.filter((name: string) => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return !(isJsonObject(property) && 'default' in property);
  });
}
