import { A2aError } from './a2a.error.js';
import { A2A_VERSIONS, type A2aVersion } from './a2a.types.js';

/** Version of a request without one: only clients of 0.3 send none. */
const FORMER: A2aVersion = '0.3';

/**
 * The version that a request asks for by the header `A2A-Version`, or by the query parameter of that name. Patch numbers do
 * not count.
 * @throws A2aError `VERSION_NOT_SUPPORTED`
 */
export function versionOf(header: unknown, parameter?: unknown): A2aVersion {
  const given = [header, parameter].find((value): value is string => typeof value === 'string' && value !== '');
  if (given === undefined) return FORMER;
  const wanted = /^(\d+\.\d+)(?:\.\d+)?$/.exec(given.trim())?.[1];
  const found = A2A_VERSIONS.find((version) => version === wanted);
  if (found) return found;
  const supported = A2A_VERSIONS.join(', ');
  const message = `A2A version ${JSON.stringify(given.slice(0, 40))} is not supported: send the header "A2A-Version" with one of ${supported}.`;
  throw new A2aError('VERSION_NOT_SUPPORTED', message, { supportedVersions: supported });
}
