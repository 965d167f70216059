import type { ConnectedServer, McpPage, ToolPin } from '../mcp/index.js';
import type { McpPageDto, McpQuarantineDto, McpServerDetailDto } from './mcp.dto.js';

/** A server for every caller with `tools:read`. */
export function toServerView({ server, state, tools, quarantined }: ConnectedServer) {
  return {
    name: server.name,
    transport: server.transport.kind,
    source: server.source,
    status: state.status,
    since: state.since,
    connects: state.connects,
    tools: [...tools.names],
    quarantined: quarantined.length,
  };
}

/** A server for operators. */
export function toServerDetail(connected: ConnectedServer, quarantined: readonly ToolPin[]): McpServerDetailDto {
  const { state, tools, connection, sessionCount } = connected;
  const protocol = connection.client?.getNegotiatedProtocolVersion();
  const info = connection.client?.getServerVersion();
  return {
    ...toServerView(connected),
    ...(state.error !== undefined && { error: state.error }),
    ...(state.retryAt !== undefined && { retry_at: state.retryAt }),
    ...(protocol !== undefined && { protocol }),
    ...(info && { server_info: { ...info } }),
    sessions: sessionCount,
    quarantine: quarantined.map(toQuarantine),
    refused: [...tools.refused].map(([tool, why]) => ({ tool, why })),
  };
}

export function toMcpPage({ items, next }: McpPage): McpPageDto {
  return { items: items.map((item) => ({ ...item })), next };
}

function toQuarantine({ tool, accepted, pending }: ToolPin): McpQuarantineDto {
  const { findings, digest, definition } = pending!;
  return {
    tool,
    reason: accepted ? 'changed' : 'suspicious',
    findings: findings.map(({ at, what }) => ({ at, what })),
    accepted: accepted && { digest: accepted.digest, definition: { ...accepted.definition } },
    pending: { digest, definition: { ...definition } },
  };
}
