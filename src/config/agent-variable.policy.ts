import { ENV_NAMES, isSecret } from './env.schema.js';
import { hostName } from './variable-name.policy.js';

const SECRETS: readonly string[] = ENV_NAMES.filter((name) => isSecret(name));

type Variables = Readonly<Record<string, string>>;

/**
 * The variables that agent files may insert into prompts: all except the secrets among Jackdaw's own, and those that
 * tools authenticate with.
 */
export function agentVariables(given: Variables, toolSecrets: Variables): Variables {
  const secrets = new Set([...SECRETS, ...SECRETS.map(hostName), ...Object.keys(toolSecrets)]);
  return Object.fromEntries(Object.entries(given).filter(([name]) => !secrets.has(name)));
}
