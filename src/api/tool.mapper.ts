import type { Tool, ToolApproval, ToolMetadata } from '../tool/index.js';
import type { ToolDto, ToolMetadataDto } from './tool.dto.js';

/** Facts about tools besides their definitions. */
export interface ToolFacts {
  /** Names of the tools that the tenant has disabled. */
  readonly disabled: ReadonlySet<string>;
  readonly omitted: readonly { readonly tool: string; readonly model: string; readonly reason: string }[];
}

/** Converts a tool to its public form. */
export function toToolView({ definition, metadata }: Tool, { disabled, omitted }: ToolFacts): ToolDto {
  const { name, description, inputSchema, outputSchema } = definition;
  const { warnings = [] } = metadata;
  const omissions = omitted.filter(({ tool }) => tool === name).map(({ model, reason }) => ({ model, reason }));
  return {
    name,
    description,
    effect: metadata.effect,
    source: metadata.source,
    enabled: !disabled.has(name),
    ...(omissions.length > 0 && { omitted: omissions }),
    ...(warnings.length > 0 && { warnings: warnings.map(({ at, what }) => ({ at, what })) }),
    input_schema: inputSchema,
    ...(outputSchema && { output_schema: outputSchema }),
    metadata: toMetadataView(metadata),
  };
}

function toApproval(approval: ToolApproval): ToolMetadataDto['approval'] {
  const when = typeof approval === 'object' ? (approval.when ?? 'always') : approval;
  return typeof when === 'function' ? 'sometimes' : when;
}

function toMetadataView(metadata: ToolMetadata): ToolMetadataDto {
  const {
    approval = 'never',
    egress,
    untrusted,
    private: isPrivate = true,
    retries = 0,
    timeoutMs,
    cacheTtlMs,
    concurrency,
    queueTimeoutMs,
  } = metadata;
  return {
    approval: toApproval(approval),
    egress,
    untrusted,
    private: isPrivate,
    retries,
    ...(timeoutMs !== undefined && { timeout_ms: timeoutMs }),
    ...(cacheTtlMs !== undefined && { cache_ttl_ms: cacheTtlMs }),
    ...(concurrency !== undefined && { concurrency }),
    ...(queueTimeoutMs !== undefined && { queue_timeout_ms: queueTimeoutMs }),
  };
}
