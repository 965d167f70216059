import { cruise, type IViolation } from 'dependency-cruiser';
import extractDepcruiseOptions from 'dependency-cruiser/config-utl/extract-depcruise-options';
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

export interface Cruised {
  readonly modules: readonly string[];
  readonly rules: readonly string[];
  readonly violations: readonly { rule: string; from: string; to: string }[];
}

/** The report of dependency-cruiser for the src/ and the examples of a project, by our rules. */
export async function cruiseProject(baseDir: string): Promise<Cruised> {
  const options = await extractDepcruiseOptions('./.dependency-cruiser.mjs');
  const { output } = await cruise(['src', 'examples'], { ...options, baseDir: resolve(baseDir) }, undefined, {
    tsConfig: extractTSConfig('tsconfig.json'),
  });
  if (typeof output === 'string') throw new Error(output);
  return {
    modules: output.modules.map(({ source }) => source).filter((source) => source.startsWith('src/')),
    rules: options.ruleSet?.forbidden?.map(({ name }) => name ?? '') ?? [],
    violations: output.summary.violations.map(({ rule, from, to }: IViolation) => ({ rule: rule.name, from, to })),
  };
}

const MODULES =
  'client-api api mcp-server health console extension database-extension definition-files schedule remote-agent workflow agent reasoning session mcp rest-tool builtin-tool webhook tool-policy tool-state tool run llm telemetry cache security persistence config errors kernel'.split(
    ' ',
  );

const imports = (paths: readonly string[]) => paths.map((path) => `import type {} from '${path}';`).join('\n');

/** Files that together break every rule, and one that breaks none. */
function faultyFiles(): Record<string, string> {
  const faces = MODULES.map((module) => [`src/${module}/index.ts`, 'export {};']);
  const ups = MODULES.map((module) => [
    `src/${module}/up.ts`,
    imports([
      '../composition.js',
      ...MODULES.filter((other) => other !== module).map((other) => `../${other}/index.js`),
    ]),
  ]);
  return {
    ...Object.fromEntries([...faces, ...ups]),
    'src/api/down.ts': imports(['../agent/index.js', '../kernel/index.js', '../kernel/part/index.js', 'zod']),
    'src/composition-part.ts': imports(['./kernel/part/index.js']),
    'src/kernel/part/index.ts': imports(['./hidden.js']),
    'src/kernel/part/hidden.ts': 'export {};',
    'src/kernel/part/deep/index.ts': 'export {};',
    'src/kernel/index.ts': imports(['./part/index.js']),
    'src/composition.ts': `${imports(['./kernel/hidden.js'])}\nimport '@nestjs/swagger';`,
    'src/kernel/hidden.ts': 'export {};',
    'src/agent/faults.ts': [
      imports(['./index.js', '../kernel/hidden.js', './faults.spec.js', './nowhere.js', './round.js']),
      imports(['../kernel/part/hidden.js', '../kernel/part/deep/index.js']),
      "import 'jest';",
      imports([
        'openai',
        'better-sqlite3-v13',
        'pg',
        'bullmq',
        '@modelcontextprotocol/client',
        'ioredis',
        'rate-limiter-flexible',
        're2js',
        'lru-cache',
        'gpt-tokenizer',
        'typeorm',
        'undici',
        'ipaddr.js',
        'quickjs-emscripten-core',
        'js-yaml',
        '@scalar/openapi-upgrader',
        'html-to-text',
        'tough-cookie',
        '@nestjs/core/injector/injector.js',
        '@nestjs/swagger',
        '@nestjs/config',
        '@nestjs/terminus',
        '@modelcontextprotocol/server',
        '@nestjs/event-emitter',
        'saxes',
        'cross-spawn',
      ]),
    ].join('\n'),
    'src/mcp-server/protocol/handler.ts': 'export {};',
    'src/mcp-server/eager.ts': "import './protocol/handler.js';\nimport '@modelcontextprotocol/server';",
    'src/http-client/server.ts': "import '../kernel/index.js';",
    'src/agent/round.ts': imports(['./faults.js']),
    'src/agent/faults.spec.ts': 'export {};',
    'examples/shop/src/main.ts': imports(['../../../src/kernel/hidden.js', 'jackdaw']),
    'src/stray/thing.service.ts': imports(['../kernel/index.js']),
  };
}

export function plantViolations(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'jackdaw-architecture-'));
  for (const [file, text] of Object.entries(faultyFiles())) {
    mkdirSync(dirname(join(path, file)), { recursive: true });
    writeFileSync(join(path, file), `${text}\n`);
  }
  for (const file of ['package.json', 'tsconfig.json']) cpSync(file, join(path, file));
  symlinkSync(resolve('node_modules'), join(path, 'node_modules'));
  return { path, remove: () => rmSync(path, { recursive: true }) };
}
