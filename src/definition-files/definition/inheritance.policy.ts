import type { AgentDefinitionInput } from '../../agent/definition/index.js';

type Fields = Readonly<Record<string, unknown>>;

/** Fields that belong to one model and are not inherited by another. */
const OF_ONE_MODEL = ['name', 'capabilities'];

/** Objects that are replaced as a whole: a merged schema would be invalid. */
const OF_SCHEMAS = ['responseFormat', 'arguments'];

/** Adds the inherited fields of a base: objects are merged by field, all other values including lists are replaced. */
export function inherit(base: Fields, own: Fields): Fields {
  const inherited = { ...withoutTools(base, own), model: modelFor(base['model'], own['model']) };
  return { ...merge(inherited, own), ...serversOf(base, own) };
}

/** Tools and MCP servers are one choice: an agent that names any of them inherits neither. */
function withoutTools(base: Fields, own: Fields): Fields {
  const isChosen = own['tools'] !== undefined || serversIn(own).some((server) => !isOff(server));
  const { tools: _tools, mcpServers: _servers, ...others } = base;
  return isChosen ? others : base;
}

/** An agent that only disables servers inherits the others. */
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

/** Finds the base of an agent by its name. */
export type FindAgent = (name: string) => AgentDefinitionInput | undefined;
