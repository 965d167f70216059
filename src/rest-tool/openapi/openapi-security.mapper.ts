import type { RestAuth } from '../rest-tool.types.js';
import { unmappable } from './openapi.error.js';
import type { OpenApiReferences } from './openapi-reference.mapper.js';
import { isNode, type Node, type OpenApiSecret } from './openapi.types.js';

type Secrets = Readonly<Record<string, OpenApiSecret>>;

/**
 * The authentication of an operation: the first alternative whose schemes all have a secret, or none if the operation
 * requires none. @throws AppError `TOOL_INVALID` if a secret is missing or a scheme is not supported
 */
export function mapSecurity(
  requirements: unknown,
  schemes: unknown,
  secrets: Secrets,
  references: OpenApiReferences,
  where: string,
): readonly RestAuth[] {
  const alternatives = (Array.isArray(requirements) ? (requirements as unknown[]) : []).filter(isNode);
  if (alternatives.length === 0) return [];
  // A configured secret is used even if the operation also allows calls without one.
  const usable = alternatives.filter((one) => Object.keys(one).every((name) => Object.hasOwn(secrets, name)));
  const chosen = usable.find((one) => Object.keys(one).length > 0) ?? usable[0];
  if (!chosen) {
    const wanted = alternatives.map((one) => Object.keys(one).join(' and ')).join(', or ');
    throw unmappable(where, `it needs ${wanted}: name their variables in \`secrets\``);
  }
  const entries = Object.keys(chosen).map((name) => {
    const place = `components.securitySchemes.${name}`;
    const { node } = references.resolve(isNode(schemes) ? schemes[name] : undefined, place);
    return toAuth(node, secrets[name]!, place);
  });
  // Two schemes with one secret, such as two flows of OAuth 2, send it once.
  return [...new Map(entries.map((entry) => [JSON.stringify(entry), entry])).values()];
}

function toAuth(scheme: Node, secret: OpenApiSecret, where: string): RestAuth {
  const { type } = scheme;
  const kind = type === 'http' ? String(scheme['scheme']).toLowerCase() : type;
  switch (kind) {
    case 'basic':
      if (typeof secret === 'string')
        throw unmappable(where, 'it is basic: give { username, password } or { user, password } in `secrets`');
      return { type: 'basic', ...secret };
    case 'bearer':
    case 'oauth2':
    case 'openIdConnect':
      return { type: 'bearer', token: oneName(secret, where) };
    case 'apiKey': {
      const { in: place, name } = scheme;
      if (place !== 'header' && place !== 'query' && place !== 'cookie')
        throw unmappable(where, `its key is in ${JSON.stringify(place)}, which a tool cannot set`);
      return { type: 'apiKey', in: place, name: String(name), key: oneName(secret, where) };
    }
    default:
      throw unmappable(where, `its type is ${JSON.stringify(kind)}, which is not supported`);
  }
}

function oneName(secret: OpenApiSecret, where: string): string {
  if (typeof secret === 'string') return secret;
  throw unmappable(where, 'it takes one secret: give the name of one variable in `secrets`');
}
