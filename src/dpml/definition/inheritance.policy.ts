import type { AgentDefinitionInput } from '../../agent/index.js';

type Fields = Readonly<Record<string, unknown>>;

/** What belongs to one model, and not to another that takes its place. */
const OF_ONE_MODEL = ['name', 'capabilities'];

/** Half a schema of another is none. */
const OF_SCHEMAS = ['responseFormat', 'arguments'];

/** An agent with what it does not say itself from another: objects field by field, all else, lists too, as a whole. */
export function inherit(base: Fields, own: Fields): Fields {
  const inherited = { ...withoutTools(base, own), model: modelFor(base['model'], own['model']) };
  return { ...merge(inherited, own), ...serversOf(base, own) };
}

/** Tools and MCP servers are one choice: who names some has those alone. */
function withoutTools(base: Fields, own: Fields): Fields {
  const isChosen = own['tools'] !== undefined || serversIn(own).some((server) => !isOff(server));
  const { tools: _tools, mcpServers: _servers, ...others } = base;
  return isChosen ? others : base;
}

/** Who only says which servers it has not, has what the other has but for those. */
function serversOf(base: Fields, own: Fields): Fields {
  const off = serversIn(own);
  if (off.length === 0 || own['tools'] !== undefined || !off.every(isOff)) return {};
  const names = new Set(off.map(nameOf));
  return { mcpServers: [...serversIn(base).filter((server) => !names.has(nameOf(server))), ...off] };
}

function serversIn({ mcpServers }: Fields): readonly unknown[] {
  return Array.isArray(mcpServers) ? mcpServers : [];
}

function isOff(server: unknown): boolean {
  return isObject(server) && server['enabled'] === false;
}

function nameOf(server: unknown): unknown {
  return isObject(server) ? server['name'] : server;
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
    const isMerged = isObject(value) && isObject(below) && !OF_SCHEMAS.includes(key);
    merged[key] = isMerged ? merge(below, value) : value;
  }
  return merged;
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Gives an agent by its name, for others to extend. */
export type FindAgent = (name: string) => AgentDefinitionInput | undefined;
