/**
 * The layers of src/, top first. A module may import only from lines below its own; modules on one line never import
 * each other. Composition (src/*.ts) stands on top of all: it imports any module and no module imports it.
 */
const LAYERS = [
  ['api', 'mcp-server', 'health', 'console'],
  ['extension', 'dpml'],
  ['workflow'],
  ['agent'],
  ['reasoning'],
  ['session', 'mcp'],
  ['tool'],
  ['run'],
  ['llm'],
  ['telemetry', 'cache', 'security'],
  ['persistence'],
  ['config'],
  ['common'],
];

/** Packages that only some folders may import: their types stay behind that folder's index. */
const SDKS = [
  { name: 'openai', packages: ['openai'], folders: ['^src/llm/'] },
  { name: 'anthropic', packages: ['@anthropic-ai/sdk'], folders: ['^src/llm/providers/anthropic/'] },
  { name: 'better-sqlite3', packages: ['better-sqlite3'], folders: ['^src/persistence/', '^src/extension/database/'] },
  { name: 'database-drivers', packages: ['pg', 'mysql2'], folders: ['^src/persistence/', '^src/extension/database/'] },
  { name: 'bullmq', packages: ['bullmq'], folders: ['^src/run/bull/'] },
  {
    name: 'ioredis',
    packages: ['ioredis'],
    folders: [
      '^src/persistence/',
      '^src/run/bus/',
      '^src/session/projection/',
      '^src/cache/',
      '^src/tool/state/stores/',
    ],
  },
  {
    name: 'rate-limiter-flexible',
    packages: ['rate-limiter-flexible'],
    folders: ['^src/security/rate-limit/'],
  },
  { name: 're2js', packages: ['re2js'], folders: ['^src/security/content/'] },
  { name: 'lru-cache', packages: ['lru-cache'], folders: ['^src/cache/'] },
  {
    name: 'typeorm',
    packages: ['typeorm'],
    folders: ['^src/persistence/', '/(entities|stores|migrations)/', '^src/extension/database/'],
  },
  { name: 'gpt-tokenizer', packages: ['gpt-tokenizer'], folders: ['^src/llm/tokens/'] },
  { name: 'undici', packages: ['undici'], folders: ['^src/llm/', '^src/security/'] },
  { name: 'ipaddr', packages: ['ipaddr.js'], folders: ['^src/security/outgoing/'] },
  { name: 'tough-cookie', packages: ['tough-cookie'], folders: ['^src/tool/rest/'] },
  { name: 'yaml', packages: ['js-yaml'], folders: ['^src/tool/rest/openapi/'] },
  { name: 'swagger', packages: ['@nestjs/swagger', 'swagger-ui-dist'], folders: ['^src/[^/]+\\.ts$'] },
  { name: 'event-emitter', packages: ['@nestjs/event-emitter'], folders: ['^src/extension/events/'] },
  {
    name: 'mcp',
    packages: ['@modelcontextprotocol/[^/]+'],
    folders: ['^src/mcp/', '^src/mcp-server/'],
  },
  { name: 'terminus', packages: ['@nestjs/terminus'], folders: ['^src/health/'] },
  { name: 'xml', packages: ['saxes'], folders: ['^src/dpml/xml/'] },
];

const MODULES = LAYERS.flat();
const TESTS = '\\.spec\\.ts$|^test/';

const layerRules = LAYERS.flatMap((modules, line) => {
  const below = LAYERS.slice(line + 1).flat();
  return modules.map((module) => ({
    name: `layer-${module}`,
    comment: `${module} may import only: ${below.join(', ') || 'nothing of src/'}.`,
    severity: 'error',
    from: { path: `^src/${module}/` },
    to: { path: '^src/', pathNot: `^src/(${[module, ...below].join('|')})/` },
  }));
});

const sdkRules = SDKS.map(({ name, packages, folders }) => ({
  name: `sdk-${name}`,
  comment: `${packages.join(', ')}: only in ${folders.join(', ')}.`,
  severity: 'error',
  from: { path: '^src/', pathNot: [...folders, TESTS] },
  to: { path: `(^|node_modules/)(${packages.join('|')})(/|$)` },
}));

export default {
  forbidden: [
    ...layerRules,
    ...sdkRules,
    {
      name: 'known-modules',
      comment: 'A folder of src/ is a module and has its place in LAYERS.',
      severity: 'error',
      from: { path: '^src/[^/]+/', pathNot: `^src/(${MODULES.join('|')})/` },
      to: {},
    },
    {
      name: 'llm-and-tool-never-meet',
      comment: 'A model request holds plain tool specs; reasoning pairs the two.',
      severity: 'error',
      from: { path: '^src/tool/' },
      to: { path: '^src/llm/' },
    },
    {
      name: 'no-cycle',
      comment: 'Two files that need each other are one concept, or a third is missing. Type-only imports count.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'public-index',
      comment: 'Another module is imported only by its index.ts; everything else is internal.',
      severity: 'error',
      from: { path: '^src/([^/]+)/' },
      to: { path: '^src/[^/]+/', pathNot: ['^src/$1/', '^src/[^/]+/index\\.ts$'] },
    },
    {
      name: 'public-index-composition',
      comment: 'Composition, too, sees a module only by its index.ts. Generated OpenAPI metadata names DTO files.',
      severity: 'error',
      from: { path: '^src/[^/]+\\.ts$', pathNot: '^src/openapi-metadata\\.ts$' },
      to: { path: '^src/[^/]+/', pathNot: '^src/[^/]+/index\\.ts$' },
    },
    {
      name: 'no-own-index',
      comment: 'Files inside a module import each other directly.',
      severity: 'error',
      from: { path: '^src/([^/]+)/.+', pathNot: '^src/[^/]+/index\\.ts$' },
      to: { path: '^src/$1/index\\.ts$' },
    },
    {
      name: 'swagger-on-demand',
      comment: 'It is 100 ms and 20 MB: imported by `import()` at the first request for the OpenAPI document.',
      severity: 'error',
      from: { path: '^src/', pathNot: TESTS },
      to: { path: '(^|node_modules/)@nestjs/swagger(/|$)', dynamic: false, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'mcp-server-on-demand',
      comment: 'The SDK is 100 ms and more: what needs it is imported by `import()` with the first client.',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/mcp-server/protocol/', TESTS] },
      to: { path: '^src/mcp-server/protocol/', dynamic: false, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'mcp-server-sdk-on-demand',
      comment: 'Elsewhere in the module only its types are used.',
      severity: 'error',
      from: { path: '^src/mcp-server/', pathNot: ['^src/mcp-server/protocol/', TESTS] },
      to: { path: '(^|node_modules/)@modelcontextprotocol/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'examples-use-the-package',
      comment: 'An example is an application of a user: it imports the package by its name.',
      severity: 'error',
      from: { path: '^examples/([^/]+)/' },
      to: { path: '^(src|test|examples)/', pathNot: ['^src/index\\.ts$', '^examples/$1/'] },
    },
    {
      name: 'no-tests-in-source',
      comment: 'Only tests import specs and test support.',
      severity: 'error',
      from: { path: '^src/', pathNot: TESTS },
      to: { path: TESTS },
    },
    {
      name: 'no-dev-dependency',
      comment: 'What src/ imports must be there after `npm ci --omit=dev`.',
      severity: 'error',
      from: { path: '^src/', pathNot: TESTS },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['npm'] },
    },
    {
      name: 'not-resolvable',
      comment: 'An import that leads nowhere would also hide from every other rule.',
      severity: 'error',
      from: { path: '^src/' },
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: '(^|/)node_modules/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'types', 'default'] },
  },
};
