import type { CallToolResult, InputRequiredResult, Tool as McpTool } from '@modelcontextprotocol/client';
import { AppError, type JsonSchema, type JsonValue } from '../../common/index.js';
import { createValueCheck, suspend, type Suspension, type Tool, type ToolContext } from '../../tool/index.js';
import type { McpConnection } from '../connection/mcp-connection.client.js';
import { McpError } from '../mcp.error.js';
import type { McpServer } from '../mcp-server.types.js';
import { callMcpTool, type McpRetry } from './mcp-call.executor.js';
import { type McpMemo, toInputResponses, toQuestion } from './mcp-question.mapper.js';
import { toMcpResult } from './mcp-result.mapper.js';
import { effectOf } from './tool-effect.policy.js';

/** By which connection a call is made. */
export type ConnectionOf = (context: ToolContext) => McpConnection;

/**
 * A server's tool as one of ours: its schemas are the server's own, neither closed nor filled in.
 * @param name what it is called here
 * @throws AppError `TOOL_INVALID` for a schema that cannot be used
 */
export function createMcpTool(name: string, tool: McpTool, server: McpServer, connectionOf: ConnectionOf): Tool {
  const inputSchema = tool.inputSchema as JsonSchema;
  const outputSchema = tool.outputSchema;
  const check = createValueCheck(inputSchema, 'arguments', 'its input');
  const checkOutput = outputSchema && createValueCheck(outputSchema, 'result', 'its output');
  const { approval, timeoutMs, isStateful } = server;
  return {
    definition: {
      name,
      description: describe(tool, server),
      inputSchema,
      ...(outputSchema && { outputSchema }),
    },
    metadata: {
      effect: effectOf(tool, server),
      source: `MCP server "${server.name}"`,
      timeoutMs,
      egress: true,
      untrusted: true,
      untrustedDefinition: true,
      isReturnForeign: true,
      ...(approval && { approval }),
      ...(isStateful && { state: { maxHistory: 0 } }),
    },
    validate: (args) => check(args),
    invoke: (input, context) =>
      invoke({ tool, server, hasOutput: outputSchema !== undefined }, connectionOf, input, context),
    ...(checkOutput && { checkOutput }),
  };
}

interface Called {
  readonly tool: McpTool;
  readonly server: McpServer;
  readonly hasOutput: boolean;
}

async function invoke(
  called: Called,
  connectionOf: ConnectionOf,
  input: unknown,
  context: ToolContext,
): Promise<unknown> {
  const retry = retryOf(context);
  const result = await connectionOf(context).use(
    (client) => callMcpTool(client, called, input, context, retry),
    context.signal,
  );
  return isInputRequired(result) ? asked(called.server, result) : valueOf(called, result);
}

function valueOf({ tool, hasOutput }: Called, result: CallToolResult): JsonValue {
  const { value } = toMcpResult(result, tool.name);
  if (!hasOutput || result.structuredContent !== undefined) return value;
  throw new AppError(
    'TOOL_INVALID_RESULT',
    'The tool says what its results are like, and gave none that is structured.',
  );
}

function asked({ name }: McpServer, result: InputRequiredResult): Suspension {
  try {
    return suspend(toQuestion(name, result));
  } catch (cause) {
    if (cause instanceof McpError) throw cause;
    throw new McpError(
      'TOOL_EXECUTION_FAILED',
      `MCP server "${name}" asks what cannot be asked.`,
      { server: name },
      { cause },
    );
  }
}

function retryOf({ answer }: ToolContext): McpRetry | undefined {
  if (!answer?.memo) return undefined;
  const memo = answer.memo as unknown as McpMemo;
  const { requestState } = memo;
  return { inputResponses: toInputResponses(memo, answer), ...(requestState !== undefined && { requestState }) };
}

function isInputRequired(result: CallToolResult | InputRequiredResult): result is InputRequiredResult {
  return (result as { resultType?: unknown }).resultType === 'input_required';
}

/** A model cannot do without a description. */
function describe({ name, title, description, annotations }: McpTool, server: McpServer): string {
  if (description !== undefined && description.trim() !== '') return description;
  return title ?? annotations?.title ?? `${name} of ${server.name}`;
}
