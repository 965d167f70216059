import type { Tool as McpTool } from '@modelcontextprotocol/client';
import type { JsonSchema } from '../../common/index.js';
import { createValueCheck, type Tool } from '../../tool/index.js';
import { McpCalls } from '../call/mcp-call.executor.js';
import { callBy, type ChannelOf } from '../call/second-attempt.executor.js';
import type { McpServer } from '../mcp-server.types.js';
import { effectOf, egressOf } from './tool-effect.policy.js';

/**
 * Converts a server's tool to a tool of Jackdaw. Its schemas stay as they are: not closed, and without added defaults.
 * @param name the tool's name in Jackdaw
 * @throws AppError `TOOL_INVALID` for a schema that cannot be used
 */
export function createMcpTool(name: string, tool: McpTool, server: McpServer, channelOf: ChannelOf): Tool {
  const inputSchema: JsonSchema = tool.inputSchema;
  const outputSchema: JsonSchema | undefined = tool.outputSchema;
  const check = createValueCheck(inputSchema, 'arguments', 'its input');
  const checkOutput = outputSchema && createValueCheck(outputSchema, 'result', 'its output');
  const effect = effectOf(tool, server);
  const calls = new McpCalls(tool, server, effect);
  const { approval, timeoutMs, isStateful, isUntrusted } = server;
  return {
    definition: { name, description: describe(tool, server), inputSchema, ...(outputSchema && { outputSchema }) },
    metadata: {
      effect,
      source: `MCP server "${server.name}"`,
      timeoutMs,
      egress: egressOf(tool, server, effect),
      // The definition was scanned and pinned; the results were not.
      untrusted: isUntrusted,
      isReturnForeign: true,
      ...(approval && { approval }),
      ...(isStateful && { state: {} }),
    },
    validate: (args) => check(args),
    invoke: (input, context) => callBy(channelOf, context, (channel) => calls.make(channel, input, context)),
    ...(checkOutput && { checkOutput }),
  };
}

/** A model needs a description. */
function describe({ name, title, description, annotations }: McpTool, server: McpServer): string {
  if (description !== undefined && description.trim() !== '') return description;
  return title ?? annotations?.title ?? `${name} of ${server.name}`;
}
