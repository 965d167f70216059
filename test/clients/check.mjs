// Generates clients from docs/openapi.json, compiles each with a page of calls in strict mode, and calls a server with it.
// Compares the types of `jackdaw/client` with generated ones, and runs the linters of Redocly and Spectral. Prints one line each;
// ends with 1 if one fails. Run by `npm run test:clients`.
import { build } from 'esbuild';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { loadConfig } from '../../dist/config/index.js';
import { createApp } from '../../dist/server/bootstrap.js';

const here = dirname(fileURLToPath(import.meta.url));
const document = join(here, '../../docs/openapi.json');
const generated = join(here, 'generated');

/** Warnings that stay, and why. */
const KNOWN = {
  // OpenAPI 3.1 has no place for the schema of a stream's events; generated clients find them by their names.
  'no-unused-components': /RunEvent/,
  'oas3-unused-component': /RunEvent/,
  // A summary of one sentence is the description.
  'operation-description': /./,
};

/** The output of each page of calls: the answer, the number of sessions of a page, the status of the last run, the code of an error. */
const CALLED = '300 1 completed RUN_NOT_FOUND';

const { app, folder, url } = await startServer();
/** Its client has the URL of the server in its code. */
const ORVAL = {
  input: document,
  output: { target: join(generated, 'orval/client.ts'), client: 'fetch', mode: 'single', baseUrl: url },
};
const TSCONFIG = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    target: 'ES2022',
    module: 'ESNext',
    moduleResolution: 'bundler',
    lib: ['ES2022', 'DOM', 'DOM.Iterable'],
    types: [],
  },
};
const GENERATORS = {
  'openapi-typescript': [document, '-o', join(generated, 'openapi-typescript/schema.ts')],
  'openapi-ts': ['-i', document, '-o', join(generated, 'hey-api'), '-c', '@hey-api/client-fetch'],
  orval: ['--config', join(generated, 'orval.config.mjs')],
  'swagger-typescript-api': [
    'generate',
    '-p',
    document,
    '-o',
    join(generated, 'swagger-typescript-api'),
    '-n',
    'client.ts',
  ],
};
const CALLS = {
  'openapi-typescript': 'openapi-typescript.ts',
  'openapi-ts': 'hey-api.ts',
  orval: 'orval.ts',
  'swagger-typescript-api': 'swagger-typescript-api.ts',
};

rmSync(generated, { recursive: true, force: true });
mkdirSync(generated);
writeFileSync(join(generated, 'orval.config.mjs'), `export default ${JSON.stringify({ jackdaw: ORVAL })};\n`);
writeFileSync(join(generated, 'spectral.json'), JSON.stringify({ extends: ['spectral:oas'] }));

const run = (program, args) =>
  execFileSync(join(here, 'node_modules/.bin', program), args, {
    cwd: here,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });

/** The program's standard output, also when it fails. */
function outputOf(program, args) {
  try {
    return run(program, args);
  } catch (error) {
    return error.stdout;
  }
}

/** A server with the offline model and an empty database. */
async function startServer() {
  const dataDir = mkdtempSync(join(tmpdir(), 'jackdaw-clients-'));
  const env = { PORT: '0', DATA_DIR: dataDir, LOG_LEVEL: 'silent', LLM_PROVIDER: 'offline' };
  const server = await createApp({ config: loadConfig({ env }).config });
  await server.listen(0, '127.0.0.1');
  return { app: server, folder: dataDir, url: await server.getUrl() };
}

/** Compiles a page of calls in strict mode. */
function compile(name, page) {
  const config = join(generated, `tsconfig.${name}.json`);
  writeFileSync(config, JSON.stringify({ ...TSCONFIG, files: [join(here, 'calls', page)] }));
  run('tsc', ['-p', config]);
}

/** Runs a page of calls. @returns its output */
async function callServer(page) {
  const outfile = join(generated, page.replace('.ts', '.bundle.mjs'));
  await build({ entryPoints: [join(here, 'calls', page)], bundle: true, format: 'esm', platform: 'node', outfile });
  const { calls } = await import(pathToFileURL(outfile).href);
  return calls(url);
}

let failures = 0;
async function check(title, action) {
  try {
    await action();
    console.log(`ok      ${title}`);
  } catch (error) {
    failures++;
    console.log(
      `failed  ${title}\n${error.stdout ?? ''}${error.stderr ?? ''}${error.stdout === undefined ? error.message : ''}`,
    );
  }
}

/** @param problems `{rule, severity, place}` */
function assertKnown(problems) {
  const unknown = problems.filter(({ rule, severity, place }) => severity === 'error' || !KNOWN[rule]?.test(place));
  if (unknown.length > 0) throw new Error(JSON.stringify(unknown.slice(0, 20), null, 1));
}

for (const [program, args] of Object.entries(GENERATORS)) {
  await check(`${program} generates a client that compiles and works with its calls`, async () => {
    run(program, args);
    compile(program, CALLS[program]);
    assert.equal(await callServer(CALLS[program]), CALLED);
  });
}
await check('jackdaw/client has the types of the document, as openapi-typescript generates them', () => {
  run('openapi-typescript', [document, '--immutable', '-o', join(generated, 'immutable/schema.ts')]);
  compile('jackdaw-client', 'jackdaw-client.ts');
});
await check("Redocly's recommended rules", () => {
  const { problems } = JSON.parse(outputOf('redocly', ['lint', document, '--format=json', '--extends=recommended']));
  assertKnown(
    problems.map(({ ruleId, severity, message }) => ({
      rule: ruleId,
      severity: severity === 'warn' ? 'warning' : severity,
      place: message,
    })),
  );
});
await check('spectral:oas', () => {
  const text = outputOf('spectral', [
    'lint',
    document,
    '--ruleset',
    join(generated, 'spectral.json'),
    '--format=json',
    '--quiet',
  ]);
  const found = JSON.parse(text.slice(text.indexOf('['), text.lastIndexOf(']') + 1) || '[]');
  assertKnown(
    found.map(({ code, severity, path }) => ({
      rule: code,
      severity: severity === 0 ? 'error' : 'warning',
      place: path.join('.'),
    })),
  );
});
await app.close();
for (const each of [generated, folder]) rmSync(each, { recursive: true });
process.exitCode = failures > 0 ? 1 : 0;
