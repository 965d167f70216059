import type { AgentDefinitionInput } from '../../agent/index.js';

type Fields = Readonly<Record<string, unknown>>;

/** What belongs to one model, and not to another that takes its place. */
const OF_ONE_MODEL = ['name', 'capabilities'];

/** An agent with what it does not say itself from another: objects field by field, all else, lists too, as a whole. */
export function inherit(base: Fields, own: Fields): Fields {
  const inherited = { ...base, model: modelFor(base['model'], own['model']) };
  return merge(inherited, own);
}

function modelFor(base: unknown, own: unknown): unknown {
  if (!isObject(base) || !isObject(own)) return base;
  const isOther = own['name'] !== undefined || (own['provider'] ?? base['provider']) !== base['provider'];
  if (!isOther) return base;
  return Object.fromEntries(Object.entries(base).filter(([key]) => !OF_ONE_MODEL.includes(key)));
}

function merge(base: Fields, own: Fields): Fields {
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(own)) {
    const below = merged[key];
    // A format is one thing: half a schema of another is none.
    const isMerged = isObject(value) && isObject(below) && key !== 'responseFormat';
    merged[key] = isMerged ? merge(below, value) : value;
  }
  return merged;
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Gives an agent by its name, for others to extend. */
export type FindAgent = (name: string) => AgentDefinitionInput | undefined;
