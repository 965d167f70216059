import { messageOf } from '../errors/index.js';
import { readText } from '../kernel/index.js';
import { parsePolicy, policyFileSchema, policyInvalid } from './security-policy.schema.js';
import type { SecurityPolicy } from './security-policy.types.js';

/** Reads a policy from a JSON file. @throws AppError `CONFIG_INVALID` that names the file and all mistakes with their paths */
export function loadPolicy(path: string): SecurityPolicy {
  let given: unknown;
  try {
    given = JSON.parse(readText(path));
  } catch (error) {
    throw policyInvalid(path, [`cannot be read as JSON (SECURITY_POLICY_FILE): ${messageOf(error)}`], error);
  }
  return parsePolicy(given, policyFileSchema, path);
}
