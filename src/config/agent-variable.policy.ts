import { ENV_NAMES, isSecret } from './env.schema.js';

type Variables = Readonly<Record<string, string>>;

/**
 * The variables that agent files may insert into prompts: all except the secrets among Jackdaw's own, and those that
 * tools authenticate with.
 */
export function agentVariables(given: Variables, toolSecrets: Variables): Variables {
  const secrets = new Set([...ENV_NAMES.filter(isSecret), ...Object.keys(toolSecrets)] as string[]);
  return Object.fromEntries(Object.entries(given).filter(([name]) => !secrets.has(name)));
}
