import { pattern } from './env-value.schema.js';

/** Which workflows there are. */
export const WORKFLOW_VARIABLES = {
  WORKFLOWS_DIR: pattern(/^[^~]/, 'a path without ~, which only a shell expands')
    .optional()
    .describe(
      'The folder of workflows, one in each `*.json` file (docs/workflows.md); by default `config/workflows`, if it is there',
    ),
};
