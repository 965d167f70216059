/** All scopes. Every route names at least one; a route without one is denied. */
export const SCOPES = [
  'chat',
  'runs:read',
  'runs:write',
  'sessions:read',
  'sessions:write',
  'sessions:trust',
  'tools:read',
  'tools:call',
  'tools:write',
  'usage:read',
  'webhooks',
  'keys',
  'erase',
  'audit',
  'operate',
] as const;

export type Scope = (typeof SCOPES)[number];

/** All scopes of the key's role. */
export const ALL_SCOPES = '*';
