/**
 * The layers of src/, top first. A module may import only from lines below its own; modules on one line never import
 * each other.
 */
const LAYERS = [
  ['client-api'],
  ['api', 'mcp-server', 'health', 'console'],
  ['extension', 'database-extension', 'definition-files', 'schedule', 'remote-agent'],
  ['workflow'],
  ['agent'],
  ['reasoning'],
  ['session', 'mcp', 'rest-tool', 'builtin-tool', 'webhook'],
  ['tool-policy', 'tool-state'],
  ['tool'],
  ['run'],
  ['llm'],
  ['telemetry', 'cache', 'security'],
  ['persistence'],
  ['config'],
  ['errors', 'kernel'],
];

/** Composition: these folders and the files of src/ itself import any module, and no module imports them. */
const COMPOSITION = ['client', 'server', 'openapi', 'logging', 'testing', 'http-client', 'cli'];

/** The files about the operating system. Not part of the index of kernel: some load packages, and few modules use them. */
const PLATFORM = '^src/kernel/platform/';

/** Packages that only some folders may import: their types stay behind that folder's index. */
const SDKS = [
  { name: 'openai', packages: ['openai'], folders: ['^src/llm/'] },
  {
    name: 'better-sqlite3',
    packages: ['better-sqlite3-v13'],
    folders: ['^src/persistence/', '^src/database-extension/'],
  },
  { name: 'database-drivers', packages: ['pg', 'mysql2'], folders: ['^src/persistence/', '^src/database-extension/'] },
  { name: 'bullmq', packages: ['bullmq'], folders: ['^src/run/distributed/'] },
  {
    name: 'ioredis',
    packages: ['ioredis'],
    folders: [
      '^src/persistence/',
      '^src/run/distributed/',
      '^src/session/projection/',
      '^src/cache/',
      '^src/tool-state/backend/',
    ],
  },
  {
    name: 'rate-limiter-flexible',
    packages: ['rate-limiter-flexible'],
    folders: ['^src/security/rate-limit/'],
  },
  { name: 're2js', packages: ['re2js'], folders: ['^src/security/content/', '^src/tool/bounded/'] },
  { name: 'lru-cache', packages: ['lru-cache'], folders: ['^src/cache/'] },
  {
    name: 'typeorm',
    packages: ['typeorm'],
    folders: ['^src/persistence/', '/(entities|migrations)/', '\\.store\\.ts$', '^src/database-extension/'],
  },
  { name: 'gpt-tokenizer', packages: ['gpt-tokenizer'], folders: ['^src/llm/tokens/'] },
  {
    name: 'quickjs',
    packages: ['quickjs-emscripten-core', '@jitl/quickjs-wasmfile-release-sync'],
    folders: ['^src/reasoning/script/'],
  },
  { name: 'undici', packages: ['undici'], folders: ['^src/llm/', '^src/security/'] },
  { name: 'ipaddr', packages: ['ipaddr.js'], folders: ['^src/security/egress/'] },
  { name: 'tough-cookie', packages: ['tough-cookie'], folders: ['^src/rest-tool/'] },
  { name: 'yaml', packages: ['js-yaml'], folders: ['^src/rest-tool/openapi/', '^src/definition-files/skill/'] },
  { name: 'swagger-converter', packages: ['@scalar/openapi-upgrader'], folders: ['^src/rest-tool/openapi/'] },
  { name: 'html-to-text', packages: ['html-to-text'], folders: ['^src/rest-tool/'] },
  { name: 'swagger', packages: ['@nestjs/swagger'], folders: ['^src/openapi/'] },
  { name: 'event-emitter', packages: ['@nestjs/event-emitter'], folders: ['^src/extension/events/'] },
  {
    name: 'mcp',
    packages: ['@modelcontextprotocol/[^/]+'],
    folders: ['^src/mcp/', '^src/mcp-server/'],
  },
  { name: 'config', packages: ['@nestjs/config'], folders: ['^src/config/'] },
  { name: 'cross-spawn', packages: ['cross-spawn'], folders: [PLATFORM] },
  { name: 'terminus', packages: ['@nestjs/terminus'], folders: ['^src/health/'] },
  { name: 'xml', packages: ['saxes'], folders: ['^src/definition-files/xml/'] },
];

/** The only importer of Nest's private files. Not part of its index: it loads Nest's injector. */
const NEST_INTERNALS = '^src/kernel/nest/nest-(internals|metadata)\\.ts$';

/** The public names of a module: its own index, and those of its parts, the subfolders that have one. */
const INDEXES = ['^src/[^/]+/index\\.ts$', '^src/[^/]+/[^/]+/index\\.ts$'];

/** Read by the supervisor of workers and by the entry point, which load neither Nest nor the other variables. */
const WORKERS = '^src/config/worker\\.loader\\.ts$';

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
      comment: 'A folder of src/ has its place in LAYERS or COMPOSITION.',
      severity: 'error',
      from: { path: '^src/[^/]+/', pathNot: `^src/(${[...MODULES, ...COMPOSITION].join('|')})/` },
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
      name: 'http-client-alone',
      comment: 'The client runs in browsers: it imports neither the server, nor packages, nor modules of Node.',
      severity: 'error',
      from: { path: '^src/http-client/', pathNot: TESTS },
      to: { pathNot: '^src/http-client/' },
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
      comment:
        'Another module is imported only by its index.ts or that of one of its parts; everything else is internal.',
      severity: 'error',
      from: { path: '^src/([^/]+)/', pathNot: '^src/openapi/generated/' },
      to: { path: '^src/[^/]+/', pathNot: ['^src/$1/', ...INDEXES, NEST_INTERNALS, PLATFORM, WORKERS] },
    },
    {
      name: 'public-index-composition',
      comment:
        'Files of src/ itself use an index too. The entry points load their part of server/ only when called, and jackdaw/tool loads few files.',
      severity: 'error',
      from: { path: '^src/[^/]+\\.ts$', pathNot: '^src/(main|mcp-stdio|tool-entry)\\.ts$' },
      to: { path: '^src/[^/]+/', pathNot: INDEXES },
    },
    {
      name: 'no-own-index',
      comment: 'Files inside a module import each other directly; no index repeats the names of another.',
      severity: 'error',
      from: { path: '^src/([^/]+)/.+' },
      to: { path: ['^src/$1/index\\.ts$', '^src/$1/[^/]+/index\\.ts$'] },
    },
    {
      name: 'nest-internals',
      comment: 'Private files of Nest change with minor versions: imported in two files, with a test of the version.',
      severity: 'error',
      from: { path: '^src/', pathNot: [NEST_INTERNALS, TESTS] },
      to: { path: '(^|node_modules/)@nestjs/[^/]+/.', pathNot: '@nestjs/[^/]+/(dist/)?index\\.(d\\.ts|js)$' },
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
      comment:
        'What src/ imports is a dependency or a peer of the package. Types of a package may come from a development dependency.',
      severity: 'error',
      from: { path: '^src/', pathNot: TESTS },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['npm', 'npm-peer', 'type-only'] },
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
