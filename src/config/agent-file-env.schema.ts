import { pattern } from './env-value.schema.js';

/** Where agents stand in files. */
export const AGENT_FILE_VARIABLES = {
  AGENTS_DIR: pattern(/^[^~]/, 'a path without ~, which only a shell expands')
    .optional()
    .describe(
      'The folder whose `*.xml` and `*.json` files are agents (docs/agent-files.md); by default `config/agents`, if it is there',
    ),
};
