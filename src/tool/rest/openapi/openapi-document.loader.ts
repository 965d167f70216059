import { AppError, messageOf, parseJson, readText } from '../../../common/index.js';
import { isNode, type Node } from './openapi.types.js';

/** Maximum YAML aliases of a document: protects against documents that expand without bound. */
const MAX_ALIASES = 1000;

/**
 * Reads an OpenAPI 3.0 or 3.1 document from a file (JSON or YAML), or uses a parsed one.
 * @throws AppError `TOOL_INVALID`
 */
export async function loadOpenApi(given: string | object): Promise<Node> {
  const source = typeof given === 'string' ? given : 'the document';
  const document = typeof given === 'string' ? await parse(read(given), given) : given;
  const version = isNode(document) ? document['openapi'] : undefined;
  if (isNode(document) && typeof version === 'string' && /^3\.[01]\.\d/.test(version)) return document;
  const found = version === undefined ? 'no OpenAPI version' : `openapi ${JSON.stringify(version)}`;
  throw new AppError('TOOL_INVALID', `${source} has ${found}; 3.0 and 3.1 are supported`);
}

function read(path: string): string {
  try {
    return readText(path);
  } catch (cause) {
    throw new AppError('TOOL_INVALID', `${path} cannot be read: ${messageOf(cause)}`, { cause });
  }
}

async function parse(text: string, path: string): Promise<unknown> {
  if (text.trimStart().startsWith('{')) {
    const parsed = parseJson(text);
    if (parsed.ok) return parsed.value;
    throw new AppError('TOOL_INVALID', `${path} is not JSON (${parsed.fault.kind})`);
  }
  const { load } = await import('js-yaml');
  try {
    return load(text, { maxAliases: MAX_ALIASES });
  } catch (cause) {
    throw new AppError('TOOL_INVALID', `${path} is not YAML: ${messageOf(cause).split('\n')[0]}`, { cause });
  }
}
