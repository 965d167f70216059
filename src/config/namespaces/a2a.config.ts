import { integer, pattern } from '../env-value.schema.js';
import { namespace, type NamespaceConfig } from '../namespace.factory.js';

/** Agents of other servers that agents use as tools. */
export const a2aConfig = namespace(
  'jackdaw.a2a',
  'Remote agents',
  {
    A2A_AGENTS_FILE: pattern(/^[^~]/, 'a path without ~, which only a shell expands')
      .optional()
      .describe('File of remote agents (docs/a2a.md); by default `config/a2a-agents.json`, if it exists'),
    A2A_POLL_MS: integer(100, 3_600_000, 'ms')
      .default(5000)
      .describe('Longest pause between two looks at the task of a remote agent, in ms'),
  },
  (env, { remoteAgents }) => ({ file: remoteAgents, pollMs: env.A2A_POLL_MS }),
);
export type A2aConfig = NamespaceConfig<typeof a2aConfig>;
