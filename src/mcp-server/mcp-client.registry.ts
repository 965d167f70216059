import { Injectable } from '@nestjs/common';
import type { McpClient } from './mcp-call.types.js';

/** MCP clients with calls in progress in this process, by run id. */
@Injectable()
export class McpClients {
  private readonly byRun = new Map<string, McpClient>();

  /** For a tool: the client that called it in this process; undefined for other callers. */
  of({ runId }: { readonly runId: string }): McpClient | undefined {
    return this.byRun.get(runId);
  }

  /** @returns a function that removes the entry */
  register(runId: string, client: McpClient): () => void {
    this.byRun.set(runId, client);
    return () => {
      if (this.byRun.get(runId) === client) this.byRun.delete(runId);
    };
  }
}
