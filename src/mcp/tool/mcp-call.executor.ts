import type { CallToolResult, Client, InputRequiredResult, Tool as McpTool } from '@modelcontextprotocol/client';
import type { ToolContext } from '../../tool/index.js';
import type { McpServer } from '../mcp-server.types.js';

/** What a call is made with beside its arguments, when the server had asked for something. */
export interface McpRetry {
  readonly inputResponses: Readonly<Record<string, unknown>>;
  readonly requestState?: string;
}

/** Calls a server's tool once; cancel and time limits reach the server. @throws the SDK's errors */
export async function callMcpTool(
  client: Client,
  { tool, server }: { readonly tool: McpTool; readonly server: McpServer },
  args: unknown,
  context: ToolContext,
  retry?: McpRetry,
): Promise<CallToolResult | InputRequiredResult> {
  const { outputSchema: _ours, ...definition } = tool;
  const params = { name: tool.name, arguments: args as Record<string, unknown>, ...retry };
  return client.callTool(params, {
    signal: context.signal,
    timeout: server.timeoutMs,
    maxTotalTimeout: server.timeoutMs,
    allowInputRequired: true,
    toolDefinition: definition,
    onprogress: ({ progress, total, message }) => context.progress(progress, total, message),
  });
}
