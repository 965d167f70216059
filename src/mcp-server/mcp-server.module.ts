import { Global, Module } from '@nestjs/common';
import { RunModule } from '../run/index.js';
import { SessionModule } from '../session/index.js';
import { ToolModule } from '../tool/index.js';
import { McpAppResources, McpResourceService } from './mcp-resources.service.js';
import { McpAgents } from './mcp-agents.service.js';
import { McpChanges } from './mcp-changes.service.js';
import { McpClients } from './mcp-client.registry.js';
import { McpEndpointController } from './mcp-endpoint.controller.js';
import { McpEndpoint } from './mcp-endpoint.service.js';
import { McpOffer } from './mcp-offer.service.js';
import { McpPrompts } from './mcp-prompt.registry.js';
import { McpPromptService } from './mcp-prompts.service.js';
import { McpRegisteredTools } from './mcp-registered-tools.service.js';
import { McpResources } from './mcp-resource.registry.js';
import { McpRuns } from './mcp-run.service.js';
import { McpTools } from './mcp-tools.service.js';

/** The MCP server without its route. Global, so that tools can find the calling client and add prompts and resources. */
@Global()
@Module({
  imports: [RunModule, SessionModule, ToolModule],
  providers: [
    McpClients,
    McpRuns,
    McpRegisteredTools,
    McpAgents,
    McpTools,
    McpPrompts,
    McpPromptService,
    McpResources,
    McpResourceService,
    McpAppResources,
    McpChanges,
    McpOffer,
    McpEndpoint,
  ],
  exports: [McpClients, McpPrompts, McpResources, McpEndpoint],
})
export class McpServerModule {}

/** The route of the MCP server. */
export const MCP_ROUTES = { imports: [McpServerModule], controllers: [McpEndpointController], providers: [] };

@Module(MCP_ROUTES)
export class McpEndpointModule {}
