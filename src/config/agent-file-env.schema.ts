import { pattern } from './env-value.schema.js';

/** The location of agent files. */
export const AGENT_FILE_VARIABLES = {
  AGENTS_DIR: pattern(/^[^~]/, 'a path without ~, which only a shell expands')
    .optional()
    .describe(
      'Folder of agent files, `*.xml` and `*.json` (docs/agent-files.md); by default `config/agents`, if it exists',
    ),
};
