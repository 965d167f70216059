/** What a request can need. A closed list: every route names one, and what names none is refused. */
export const SCOPES = [
  'chat',
  'runs:read',
  'runs:write',
  'sessions:read',
  'sessions:write',
  'tools:read',
  'tools:call',
  'tools:write',
  'usage:read',
  'keys',
  'erase',
  'audit',
  'operate',
] as const;

export type Scope = (typeof SCOPES)[number];

/** Everything that a key's role may. */
export const ALL_SCOPES = '*';
