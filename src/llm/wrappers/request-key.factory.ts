import { hash } from 'node:crypto';
import { canonicalJson } from '../../common/index.js';
import type { ChatRequest } from '../chat.types.js';

/** Tenant and model of a request. */
export interface AskedModel {
  readonly tenant: string;
  readonly provider: string;
  readonly model: string;
}

/** Whether equal requests have equal replies: only at temperature 0. */
export function isDeterministic({ parameters }: ChatRequest): boolean {
  return parameters?.temperature === 0;
}

/** Cache key of a request, independent of the order of its fields: SHA-256 in hex. */
export function requestKey(asked: AskedModel, request: ChatRequest): string {
  return hash('sha256', canonicalJson([asked.tenant, asked.provider, asked.model, request]));
}
