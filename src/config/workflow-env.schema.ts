import { pattern } from './env-value.schema.js';

/** The location of workflow files. */
export const WORKFLOW_VARIABLES = {
  WORKFLOWS_DIR: pattern(/^[^~]/, 'a path without ~, which only a shell expands')
    .optional()
    .describe(
      'Folder of workflows, one per `*.json` file (docs/workflows.md); by default `config/workflows`, if it exists',
    ),
};
