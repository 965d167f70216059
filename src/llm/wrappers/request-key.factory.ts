import { hash } from 'node:crypto';
import type { ChatRequest } from '../chat.types.js';

/** Who asks what of which model. */
export interface AskedModel {
  readonly tenant: string;
  readonly provider: string;
  readonly model: string;
}

/** Whether the same request has the same reply: only what is asked for at temperature 0 is expected to. */
export function isDeterministic({ parameters }: ChatRequest): boolean {
  return parameters?.temperature === 0;
}

/** The same for the same request, in whatever order its fields were written: SHA-256 in hex. */
export function requestKey(asked: AskedModel, request: ChatRequest): string {
  return hash('sha256', canonical([asked.tenant, asked.provider, asked.model, request]));
}

/** JSON with the fields of every object in order, and without those that have no value. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => (isPlain(inner) ? ordered(inner) : inner));
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function ordered(value: Record<string, unknown>): Record<string, unknown> {
  // Without a prototype, a field may have any name.
  const fields = Object.create(null) as Record<string, unknown>;
  for (const name of Object.keys(value).toSorted()) fields[name] = value[name];
  return fields;
}
