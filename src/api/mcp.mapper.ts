import { type ConnectedServer, differencesOf, type McpPage, type ToolPin, type WaitingTools } from '../mcp/index.js';
import type { McpAcceptedDto, McpPageDto, McpQuarantineDto, McpServerDetailDto } from './mcp.dto.js';

/** A server for every caller with `tools:read`. */
export function toServerView({ server, state, tools, quarantined, connection }: ConnectedServer) {
  return {
    name: server.name,
    transport: connection.transport,
    source: server.source,
    status: state.status,
    since: state.since,
    connects: state.connects,
    tools: [...tools.names],
    pins: server.pins,
    scan: server.scan,
    quarantined: quarantined.length,
  };
}

/** A server for operators. */
export function toServerDetail(connected: ConnectedServer, waiting: readonly ToolPin[]): McpServerDetailDto {
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
    quarantine: waiting.map((pin) => toQuarantine(pin, connected)),
    refused: [...tools.refused].map(([tool, why]) => ({ tool, why })),
  };
}

export function toMcpPage({ items, next }: McpPage): McpPageDto {
  return { items: items.map((item) => ({ ...item })), next };
}

/** The waiting definitions of a server, before or after their acceptance. */
export function toAccepted(
  connected: ConnectedServer,
  { digest, pins }: WaitingTools,
  accepted: boolean,
): McpAcceptedDto {
  return { accepted, digest, tools: pins.map((pin) => toQuarantine(pin, connected)) };
}

function toQuarantine(pin: ToolPin, { server }: ConnectedServer): McpQuarantineDto {
  const { tool, accepted, hints } = pin;
  const pending = pin.pending ?? { ...accepted!, findings: [], reason: 'hints' as const };
  const { findings, digest, definition, reason } = pending;
  return {
    tool,
    reason,
    hidden: !accepted || (pin.pending !== null && server.pins === 'block'),
    findings: findings.map(({ at, what, hides = false }) => ({ at, what, hides })),
    differences: differencesOf(accepted?.definition ?? null, definition),
    hints: hints && { ...hints },
    accepted: accepted && { digest: accepted.digest, definition: { ...accepted.definition } },
    pending: { digest, definition: { ...definition } },
  };
}
