import { choice, choices, pathList, pattern, variableNames } from '../env-value.schema.js';
import { compact, namespace, type NamespaceConfig } from '../namespace.factory.js';

/** The built-in tools. */
const BUILTIN_TOOLS = ['calculator', 'get_timestamp', 'string_tools', 'sequentialthinking'] as const;

/** REST tools, their secrets, and the security policy for agents. */
export const toolConfig = namespace(
  'jackdaw.tool',
  'Tools',
  {
    BUILTIN_TOOLS: choices(BUILTIN_TOOLS)
      .default(['calculator', 'get_timestamp', 'string_tools'])
      .describe('Built-in tools of agents, comma-separated'),
    REST_TOOLS: pathList()
      .optional()
      .describe(
        'Files that declare REST tools, comma-separated, such as `config/rest-tools.json` (docs/rest-tools.md)',
      ),
    TOOL_SECRETS: variableNames()
      .optional()
      .describe(
        'Names of the variables that these files may use as secrets, comma-separated; other variables cannot be used',
      ),
    SECURITY_POLICY_FILE: pattern(/^[^~]/, 'a path without ~, which only a shell expands')
      .optional()
      .describe(
        'JSON file of the security policy for agents, such as `config/security-policy.json`: tool lists, rate limits and content filters (docs/policies.md)',
      ),
    TAINT_RULE: choice(['facts', 'strict'])
      .default('facts')
      .describe(
        '`facts`: a call waits for a person if its run contains untrusted content and private data, and the call can carry data out; `strict`: without private data, too (docs/policies.md)',
      ),
  },
  (env, { toolSecrets }) => ({
    builtinTools: env.BUILTIN_TOOLS,
    taintRule: env.TAINT_RULE,
    restFiles: env.REST_TOOLS ?? [],
    /** By variable name. */
    secrets: toolSecrets,
    ...compact({ policyFile: env.SECURITY_POLICY_FILE }),
  }),
);
export type ToolConfig = NamespaceConfig<typeof toolConfig>;
