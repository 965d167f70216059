import { pattern } from '../env-value.schema.js';
import { compact, namespace, type NamespaceConfig } from '../namespace.factory.js';

const NO_TILDE = 'a path without ~, which only a shell expands';

/** The folders of agent and workflow files, and of skills. */
export const definitionFilesConfig = namespace(
  'jackdaw.definition-files',
  'Agent and workflow files, skills',
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
    SKILLS_DIR: pattern(/^[^~]/, NO_TILDE)
      .optional()
      .describe(
        'Folder of skills, each a folder with a `SKILL.md` (docs/skills.md); by default `config/skills`, if it exists',
      ),
  },
  (env, { agentVariables, hasFiles, nameOf }) => ({
    ...compact({ agentsDir: env.AGENTS_DIR, workflowsDir: env.WORKFLOWS_DIR, skillsDir: env.SKILLS_DIR }),
    /** Whether the default folders apply. */
    hasDefaults: hasFiles,
    /** The names of the variables, for errors. */
    variableNames: {
      agentsDir: nameOf('AGENTS_DIR'),
      workflowsDir: nameOf('WORKFLOWS_DIR'),
      skillsDir: nameOf('SKILLS_DIR'),
    },
    variables: agentVariables,
  }),
);
export type DefinitionFilesConfig = NamespaceConfig<typeof definitionFilesConfig>;
