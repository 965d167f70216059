// Writes the types and routes of `jackdaw/client` from docs/openapi.json: an interface for each schema that the operations
// below use, and a table of these operations. A change of the document that breaks the client then fails to compile.
//   node scripts/client-types.mjs [file]
import { readFileSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { format, resolveConfig } from 'prettier';

const FILE = 'src/http-client/generated/operations.ts';
/** The operations that the client calls, by their `operationId`. */
const CALLED = new Set(
  `chat streamChat startRun listAgents getAgent listRuns getRun streamRunEvents cancelRun getRunJournal exportRun forkRun approveRun denyRun
   answerRun settleRun releaseRun listWaiting createSession listSessions importSession getSession deleteSession listMessages exportSession
   listTools getTool callTool listWorkflows getWorkflow startWorkflow getUsage listMcpServers addMcpServer acceptMcpServer createKey
   listKeys revokeKey giveFeedback getDataset createEval listEvals getEval deleteEval`.split(/\s+/),
);
/** Schemas that no operation refers to: payloads of streams, and errors. */
const ROOTS = ['RunEvent', 'Problem'];
const SUFFIX = /Dto$/;

const { paths, components } = JSON.parse(readFileSync('docs/openapi.json', 'utf8'));
const { schemas } = components;

const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods)
    .filter(([, { operationId }]) => CALLED.has(operationId))
    .map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
);
const missing = [...CALLED].filter((id) => !operations.some(({ operationId }) => operationId === id));
if (missing.length > 0) throw new Error(`Not in docs/openapi.json: ${missing.join(', ')}`);

const bodies = new Set(operations.map(({ requestBody }) => jsonOf(requestBody)?.$ref));
/** Schemas of requests. */
const inputs = reachable([...bodies]);
/** Whether the schema that is being written is one of a request. */
let isInput = false;
/** Schema by type name. */
const types = new Map();

/** Schemas that these refer to, with them. */
function reachable(refs, found = new Set()) {
  for (const ref of refs.filter((each) => each !== undefined && !found.has(each))) {
    found.add(ref);
    const inner = JSON.stringify(schemas[ref.split('/').at(-1)]).matchAll(/"\$ref":"([^"]+)"/g);
    reachable(
      Array.from(inner, ([, each]) => each),
      found,
    );
  }
  return found;
}

function jsonOf(content) {
  return content?.content?.['application/json']?.schema;
}

/** The type of a schema: without `Dto`; the schema of a body ends with `Request`. */
function nameOf(ref) {
  const schema = ref.split('/').at(-1);
  const name = typeName(ref, schema);
  const other = types.get(name);
  if (other !== undefined && other !== schema && !isSame(schemas[other], schemas[schema])) {
    throw new Error(`${other} and ${schema} are different types with the name ${name}`);
  }
  if (other === undefined) types.set(name, schema);
  return name;
}

function typeName(ref, schema) {
  const plain = schema.replace(SUFFIX, '');
  if (bodies.has(ref)) return plain.endsWith('Request') ? plain : `${plain}Request`;
  const isOther = plain !== schema && plain in schemas && !isSame(schemas[plain], schemas[schema]);
  return isOther ? `Answered${plain}` : plain;
}

/** Whether two schemas allow the same values. */
function isSame(a, b) {
  return isDeepStrictEqual(bare(a), bare(b));
}

/** A schema without descriptions, with its references resolved. */
function bare(schema, field = '') {
  if (Array.isArray(schema)) {
    const all = schema.map((each) => bare(each));
    return field === 'required' || field === 'enum' ? all.toSorted() : all;
  }
  if (typeof schema !== 'object' || schema === null) return schema;
  if (schema.$ref) return bare(schemas[schema.$ref.split('/').at(-1)]);
  const entries = Object.entries(schema).filter(([name]) => name !== 'description');
  return Object.fromEntries(entries.map(([name, value]) => [name, bare(value, name)]));
}

function typeOf(schema) {
  if (schema.$ref) return nameOf(schema.$ref);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if ('const' in schema) return JSON.stringify(schema.const);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return [...new Set(choices.map(typeOf))].join(' | ');
  if (schema.allOf) return schema.allOf.map((part) => `(${typeOf(part)})`).join(' & ');
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type })).join(' | ');
  return plainType(schema);
}

function plainType(schema) {
  switch (schema.type) {
    case undefined:
      return 'unknown';
    case 'integer':
      return 'number';
    case 'array':
      return `readonly (${typeOf(schema.items)})[]`;
    case 'object':
      return objectType(schema);
    case 'null':
    case 'string':
    case 'number':
    case 'boolean':
      return schema.type;
    default:
      throw new Error(`Unknown type of a schema: ${JSON.stringify(schema)}`);
  }
}

function objectType({ properties, required = [], additionalProperties }) {
  if (!properties) {
    const value = typeof additionalProperties === 'object' ? typeOf(additionalProperties) : 'unknown';
    // A value with an interface as its type has no index signature.
    if (isInput && value === 'unknown') return 'object';
    return `Readonly<Record<string, ${value}>>`;
  }
  return members(properties, required);
}

function members(properties, required) {
  const lines = Object.entries(properties).map(([name, schema]) => {
    const key = /^\w+$/.test(name) ? name : JSON.stringify(name);
    return `${comment(schema.description)}readonly ${key}${required.includes(name) ? '' : '?'}: ${typeOf(schema)};`;
  });
  return `{\n${lines.join('\n')}\n}`;
}

function comment(text) {
  if (!text) return '';
  const lines = text.replaceAll('*/', '* /').split('\n').flatMap(wrapped);
  return lines.length === 1 ? `/** ${lines[0]} */\n` : `/**\n${lines.map((line) => ` * ${line}`).join('\n')}\n */\n`;
}

/** Lines of at most 110 characters. */
function wrapped(text) {
  return text.match(/.{1,110}(?:\s|$)|\S+/g)?.map((line) => line.trimEnd()) ?? [''];
}

function declarationOf(name, schema) {
  const { description } = schemas[schema];
  isInput = inputs.has(`#/components/schemas/${schema}`);
  const type = typeOf(schemas[schema]);
  const isObject = type.startsWith('{');
  return `${comment(description)}export ${isObject ? `interface ${name} ${type}` : `type ${name} = ${type};`}\n`;
}

function parametersOf({ parameters = [] }, place) {
  const here = parameters.filter((parameter) => parameter.in === place);
  const properties = Object.fromEntries(
    here.map(({ name, schema, description }) => [name, { ...schema, ...(description && { description }) }]),
  );
  const required = here.filter((parameter) => parameter.required).map(({ name }) => name);
  return here.length === 0 ? 'undefined' : members(properties, required);
}

function answerOf({ responses }) {
  const answers = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  const found = answers.map(([, response]) => jsonOf(response)).filter(Boolean);
  return found.length === 0 ? 'undefined' : [...new Set(found.map(typeOf))].join(' | ');
}

/** Whether the server recognizes a repeated request, so that its repetition has no second effect. */
function isRepeatable({ method, parameters = [] }) {
  return method === 'GET' || parameters.some(({ name }) => name === 'idempotency-key');
}

const table = operations.map(
  (operation) =>
    `${operation.operationId}: { method: '${operation.method}', path: '${operation.path}', isRepeatable: ${isRepeatable(operation)} },`,
);
const shapes = operations.map((operation) => {
  const { requestBody, operationId } = operation;
  const body = requestBody
    ? `${typeOf(jsonOf(requestBody))}${requestBody.required ? '' : ' | undefined'}`
    : 'undefined';
  return `readonly ${operationId}: {
    readonly path: ${parametersOf(operation, 'path')};
    readonly query: ${parametersOf(operation, 'query')};
    readonly body: ${body};
    readonly answer: ${answerOf(operation)};
  };`;
});
for (const name of ROOTS) nameOf(`#/components/schemas/${name}`);
const declarations = [];
// A declaration adds the types that it uses to the map during the iteration.
for (const [name, schema] of types) declarations.push(declarationOf(name, schema));

const text = `// Written by \`npm run openapi:client\` from docs/openapi.json.

${declarations.join('\n')}
/** Parameters, body and answer of each operation; \`undefined\` if it has none. */
export interface Operations {
${shapes.join('\n')}
}

/** Method and path of each operation. */
export const OPERATIONS = {
${table.join('\n')}
} as const satisfies Readonly<Record<keyof Operations, object>>;
`;
const config = await resolveConfig(FILE);
writeFileSync(process.argv[2] ?? FILE, await format(text, { ...config, parser: 'typescript' }));
