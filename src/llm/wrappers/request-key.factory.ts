import { hash } from 'node:crypto';
import { canonicalJson } from '../../kernel/index.js';
import type { ChatRequest } from '../chat.types.js';

/** Tenant and model of a request. */
export interface CalledModel {
  readonly tenant: string;
  readonly provider: string;
  readonly model: string;
}

/** Whether equal requests have equal replies: only at temperature 0. */
export function isDeterministic({ parameters }: ChatRequest): boolean {
  return parameters?.temperature === 0;
}

/** Cache key of a request, independent of the order of its fields: SHA-256 in hex. */
export function requestKey(called: CalledModel, request: ChatRequest): string {
  return hash('sha256', canonicalJson([called.tenant, called.provider, called.model, request]));
}
