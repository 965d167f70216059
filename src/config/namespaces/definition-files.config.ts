import { pattern } from '../env-value.schema.js';
import { compact, namespace, type NamespaceConfig } from '../namespace.factory.js';

const NO_TILDE = 'a path without ~, which only a shell expands';

/** The folders of agent and workflow files. */
export const definitionFilesConfig = namespace(
  'jackdaw.definition-files',
  'Agent and workflow files',
  {
    AGENTS_DIR: pattern(/^[^~]/, NO_TILDE)
      .optional()
      .describe(
        'Folder of agent files, `*.xml` and `*.json` (docs/agent-files.md); by default `config/agents`, if it exists',
      ),
    WORKFLOWS_DIR: pattern(/^[^~]/, NO_TILDE)
      .optional()
      .describe(
        'Folder of workflows, one per `*.json` file (docs/workflows.md); by default `config/workflows`, if it exists',
      ),
  },
  (env, { agentVariables, hasFiles, nameOf }) => ({
    ...compact({ agentsDir: env.AGENTS_DIR, workflowsDir: env.WORKFLOWS_DIR }),
    /** Whether the default folders apply. */
    hasDefaults: hasFiles,
    /** The names of the variables, for errors. */
    variableNames: { agentsDir: nameOf('AGENTS_DIR'), workflowsDir: nameOf('WORKFLOWS_DIR') },
    variables: agentVariables,
  }),
);
export type DefinitionFilesConfig = NamespaceConfig<typeof definitionFilesConfig>;
