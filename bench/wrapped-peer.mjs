// As peer.mjs, with every wrapper around the model: two keys, bulkhead, fallback, budgets, and the default ones.
import { create as createPeer } from './peer.mjs';

const WRAPPED = {
  OPENAI_API_KEYS: 'one,two',
  LLM_CONCURRENCY: '100',
  LLM_FALLBACK: 'ollama:qwen3',
  LLM_CACHE: 'memory',
  BUDGET_RUN: 'tokens=1000000000',
  BUDGET_SESSION: 'tokens=1000000000',
  BUDGET_TENANT_DAY: 'tokens=1000000000',
};

export function create(given) {
  return createPeer(given, WRAPPED);
}
