import { isDeepStrictEqual } from 'node:util';
import { AppError, messageOf } from '../../src/errors/index.js';
import { loadOpenApi } from '../../src/rest-tool/openapi/openapi-document.loader.js';
import { type MappedOperation, OpenApiOperations } from '../../src/rest-tool/openapi/openapi-operation.mapper.js';
import {
  type FoundOperation,
  OpenApiOperationRegistry,
} from '../../src/rest-tool/openapi/openapi-operation.registry.js';
import { OpenApiReferences } from '../../src/rest-tool/openapi/openapi-reference.mapper.js';
import { isNode, type Node } from '../../src/rest-tool/openapi/openapi.types.js';
import { toolContext } from '../support/call-site.js';
import { fileLedger, type RestWorld } from '../support/rest-world.js';
import { argumentsOf } from './openapi-arguments.js';
import { differencesOf, TRIED_FILE } from './openapi-comparison.js';
import { contradictionsOf } from './openapi-contradictions.js';

/** An operation as the import maps it. */
export interface TriedOperation extends MappedOperation {
  readonly operation: FoundOperation;
}

/** Outcome of one document. */
export interface Trial {
  readonly version: string;
  readonly operations: number;
  readonly imported: number;
  /** Reasons by operation. */
  readonly refused: Readonly<Record<string, string>>;
  /** Sent requests, each with exactly the given values. */
  readonly calls: number;
  /** Examples that are refused because they contradict their own schema, or that their style cannot write. */
  readonly contradictions: readonly string[];
  /** Faults of Jackdaw. */
  readonly faults: readonly string[];
}

const LONGEST_REASON = 140;

/** Imports a document and sends its own request examples. */
export async function tryDocument(name: string, path: string, world: RestWorld): Promise<Trial> {
  world.reset();
  world.server.onAny((_request, reply) => {
    reply.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  const document = await loadOpenApi(path);
  const given = { server: `${world.server.url}/api`, secrets: secretsOf(document) };
  const { tools, refused } = await world.registry.importOpenApi({ document, ...given }, name);
  const trial = { calls: 0, contradictions: [] as string[], faults: [] as string[] };
  for (const tried of operationsOf(document, given)) {
    for (const { values, isSample } of argumentsOf(tried, document)) {
      await tryCall(tried, values, isSample, { world, document, trial });
    }
  }
  const { info } = document;
  return {
    version: isNode(info) ? String(info['version']) : '',
    operations: tools.length + refused.length,
    imported: tools.length,
    refused: Object.fromEntries(refused.map(({ operation, reason }) => [operation, shortReason(reason)])),
    ...trial,
  };
}

interface Trying {
  readonly world: RestWorld;
  readonly document: Node;
  readonly trial: { calls: number; readonly contradictions: string[]; readonly faults: string[] };
}

async function tryCall(tried: TriedOperation, values: Node, isSample: boolean, trying: Trying): Promise<void> {
  const { world, document, trial } = trying;
  const { where, name } = tried.operation;
  const tool = world.tools.get(name);
  const checked = await tool.validate(values);
  // A null that its schema does not allow is removed.
  if (!checked.valid || !isDeepStrictEqual(checked.value, values)) {
    const reasons = contradictionsOf(tried, values, document);
    const fault = checked.valid ? 'values are changed' : `a valid example is refused: ${checked.reason}`;
    if (reasons.length === 0) trial.faults.push(`${where}: ${fault}`);
    else if (!isSample) trial.contradictions.push(`${where}: ${reasons.join('; ')}`);
    return;
  }
  const seen = world.server.requests.length;
  try {
    await tool.invoke(checked.value, CONTEXT);
  } catch (error) {
    const isUnwritable = error instanceof AppError && error.code === 'TOOL_INVALID_ARGUMENTS';
    (isUnwritable ? trial.contradictions : trial.faults).push(`${where}: ${messageOf(error)}`);
    return;
  }
  trial.calls += 1;
  const sent = world.server.requests[seen];
  const differences = sent ? differencesOf(sent, tried, values) : ['no request was sent'];
  trial.faults.push(...differences.map((one) => `${where}: ${one}`));
}

const CONTEXT = toolContext({ files: fileLedger(TRIED_FILE) });

/** The imported operations, with the names of their arguments. */
function* operationsOf(document: Node, given: ConstructorParameters<typeof OpenApiOperations>[2]) {
  const references = new OpenApiReferences(document);
  const mapper = new OpenApiOperations(document, references, given);
  for (const selected of new OpenApiOperationRegistry(document, references, '').select(undefined)) {
    try {
      const mapped = mapper.map(selected, { mistakes: [], needs: [] });
      yield { ...mapped, operation: selected.operation };
    } catch {
      // The import lists it as refused.
    }
  }
}

/** A secret for every security scheme. */
function secretsOf({ components }: Node): Record<string, string | { username: string; password: string }> {
  const schemes = isNode(components) && isNode(components['securitySchemes']) ? components['securitySchemes'] : {};
  const isBasic = (scheme: unknown) => isNode(scheme) && String(scheme['scheme']).toLowerCase() === 'basic';
  const login = { username: 'CRM_USER', password: 'CRM_TOKEN' };
  return Object.fromEntries(
    Object.entries(schemes).map(([name, scheme]) => [name, isBasic(scheme) ? login : 'CRM_TOKEN']),
  );
}

function shortReason(reason: string): string {
  return reason.length > LONGEST_REASON ? `${reason.slice(0, LONGEST_REASON)}…` : reason;
}
