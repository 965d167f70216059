import { Injectable } from '@nestjs/common';
import type { McpClient } from './mcp-call.types.js';

/** The MCP clients whose calls go on in this process, by the runs that they are. */
@Injectable()
export class McpClients {
  private readonly byRun = new Map<string, McpClient>();

  /** For a tool: the client that has called it, here and now; undefined for every other call. */
  of({ runId }: { readonly runId: string }): McpClient | undefined {
    return this.byRun.get(runId);
  }

  /** @returns a function that lets go of it */
  hold(runId: string, client: McpClient): () => void {
    this.byRun.set(runId, client);
    return () => {
      if (this.byRun.get(runId) === client) this.byRun.delete(runId);
    };
  }
}
