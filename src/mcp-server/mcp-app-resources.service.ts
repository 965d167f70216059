import { Injectable } from '@nestjs/common';
import type { Resource } from '@modelcontextprotocol/server';
import type { Principal } from '../kernel/index.js';
import { McpContent } from '../mcp/index.js';
import { McpResources } from './mcp-resource.registry.js';
import { McpRegisteredTools } from './mcp-registered-tools.service.js';

const VIEW_TYPE = 'text/html;profile=mcp-app';

/** The views (`ui://…`) of tools that connected MCP servers provide, unchanged, for clients with MCP Apps. */
@Injectable()
export class McpAppResources {
  constructor(
    /** The application's own resources. */
    readonly own: McpResources,
    private readonly tools: McpRegisteredTools,
    private readonly content: McpContent,
  ) {}

  /** The views of the tools that the principal may call. */
  async list(principal: Principal): Promise<Resource[]> {
    return [...(await this.views(principal))].map(([uri, { name }]) => ({ uri, name, mimeType: VIEW_TYPE }));
  }

  /**
   * The contents of a view, in the format of the protocol; `null` if none of these tools has it.
   * @throws McpError `RESOURCE_NOT_FOUND`, `NETWORK_ERROR`
   */
  async read(principal: Principal, uri: string): Promise<readonly object[] | null> {
    const view = (await this.views(principal)).get(uri);
    return view ? this.content.resource(view.server, uri, new AbortController().signal) : null;
  }

  /** By URI; if two servers have the same URI, the view of the first one. */
  private async views(principal: Principal): Promise<Map<string, { readonly name: string; readonly server: string }>> {
    const views = new Map<string, { name: string; server: string }>();
    for (const { definition, metadata } of await this.tools.callable(principal)) {
      const { uri, server } = metadata.app ?? {};
      if (uri !== undefined && server !== undefined && !views.has(uri))
        views.set(uri, { name: definition.name, server });
    }
    return views;
  }
}
