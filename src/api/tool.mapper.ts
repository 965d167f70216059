import type { Tool, ToolMetadata } from '../tool/index.js';
import type { ToolDto, ToolMetadataDto } from './tool.dto.js';

/** Converts a tool to its public form. */
export function toToolView({ definition, metadata }: Tool, off: ReadonlySet<string>): ToolDto {
  const { name, description, inputSchema, outputSchema } = definition;
  return {
    name,
    description,
    effect: metadata.effect,
    source: metadata.source,
    enabled: !off.has(name),
    input_schema: inputSchema,
    ...(outputSchema && { output_schema: outputSchema }),
    metadata: toMetadataView(metadata),
  };
}

function toMetadataView(metadata: ToolMetadata): ToolMetadataDto {
  const {
    approval = 'never',
    egress,
    untrusted,
    retries = 0,
    timeoutMs,
    cacheTtlMs,
    concurrency,
    queueTimeoutMs,
  } = metadata;
  return {
    approval: typeof approval === 'function' ? 'sometimes' : approval,
    egress,
    untrusted,
    retries,
    ...(timeoutMs !== undefined && { timeout_ms: timeoutMs }),
    ...(cacheTtlMs !== undefined && { cache_ttl_ms: cacheTtlMs }),
    ...(concurrency !== undefined && { concurrency }),
    ...(queueTimeoutMs !== undefined && { queue_timeout_ms: queueTimeoutMs }),
  };
}
