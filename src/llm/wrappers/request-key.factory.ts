import { hash } from 'node:crypto';
import { canonicalJson } from '../../common/index.js';
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
  return hash('sha256', canonicalJson([asked.tenant, asked.provider, asked.model, request]));
}
