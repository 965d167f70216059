import type { Tool as McpTool } from '@modelcontextprotocol/client';
import { createHash } from 'node:crypto';
import { canonicalJson, type JsonValue } from '../../kernel/index.js';

/** The parts of a tool that models or its handling depend on. */
export interface PinnedDefinition {
  readonly name: string;
  readonly title?: JsonValue;
  readonly description?: JsonValue;
  readonly inputSchema?: JsonValue;
  readonly outputSchema?: JsonValue;
  readonly annotations?: JsonValue;
}

export function pinnedOf({
  name,
  title,
  description,
  inputSchema,
  outputSchema,
  annotations,
}: McpTool): PinnedDefinition {
  return JSON.parse(
    canonicalJson({ name, title, description, inputSchema, outputSchema, annotations }),
  ) as PinnedDefinition;
}

/** SHA-256 (hex) of its canonical JSON; the order of members does not matter. */
export function digestOf(definition: PinnedDefinition): string {
  return createHash('sha256').update(canonicalJson(definition)).digest('hex');
}
