import { describe, expect, it } from 'vitest';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { CHART, chartValues } from './support/chart.js';

interface Service {
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly build?: { readonly context: string; readonly dockerfile: string };
}
interface Dependencies {
  readonly dependencies?: Readonly<Record<string, string>>;
}
interface Lock {
  readonly packages: Readonly<Record<string, Dependencies & { readonly integrity?: string }>>;
}
interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: object;
}

const documented = readFileSync('docs/configuration.md', 'utf8');
const unknown = (names: readonly string[]) => names.filter((name) => !documented.includes(`\`${name}\``));

describe('the chart', () => {
  const schema = JSON.parse(readFileSync(`${CHART}/values.schema.json`, 'utf8')) as object;
  const isValid = new Ajv2020({ allErrors: true }).compile(schema);

  it('has values that fit its schema', () => {
    isValid(chartValues());
    expect(isValid.errors).toBeNull();
  });

  it.each([
    [{ replicas: 3 }, 'must NOT have additional properties'],
    [{ replicaCount: 'two' }, 'must be integer'],
    [{ database: { type: 'oracle' } }, 'must be equal to one of the allowed values'],
    [{ env: { 'log-level': 'debug' } }, 'must match pattern'],
    [{ terminationGracePeriodSeconds: 5 }, 'must be >= 10'],
  ])('refuses the values %o', (values, message) => {
    expect(isValid(chartValues(values))).toBe(false);
    expect(isValid.errors!.map((error) => error.message).join()).toContain(message);
  });

  it('sets variables that the server has', () => {
    const template = readFileSync(`${CHART}/templates/deployment.yaml`, 'utf8');
    const names = [...template.matchAll(/- name: ([A-Z][A-Z_]+)$/gm)].map(([, name]) => name!);
    expect(names).toContain('METRICS_PORT');
    expect(unknown([...names, ...Object.keys(chartValues()['env'] as object)])).toEqual([]);
  });

  it('has a grace period that is longer than a stop', () => {
    const defaults = /SHUTDOWN_TIMEOUT_MS` +\| `(\d+)`/.exec(documented);
    expect(chartValues()['terminationGracePeriodSeconds']).toBeGreaterThan(Number(defaults?.[1]) / 1000 + 3);
  });
});

describe('the compose file', () => {
  const { services, volumes } = load(readFileSync('deploy/compose.yaml', 'utf8')) as Compose;

  it('sets variables that the server has', () => {
    expect(unknown(Object.keys(services['jackdaw']!.environment!))).toEqual([]);
  });

  it('mounts files that exist, and volumes that it declares', () => {
    const sources = Object.values(services)
      .flatMap((service) => service.volumes ?? [])
      .map((volume) => volume.split(':')[0]!);
    const missing = sources.filter((source) =>
      source.startsWith('.') ? !existsSync(join('deploy', source)) : !Object.hasOwn(volumes, source),
    );
    expect(missing).toEqual([]);
    const { context, dockerfile } = services['jackdaw']!.build!;
    expect(existsSync(join('deploy', context, dockerfile))).toBe(true);
  });
});

it('the lock file of the image has the dependencies of the package (npm run lock:deploy)', () => {
  const read = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as Lock & Dependencies;
  const { packages } = read('deploy/package-lock.json');
  expect(packages['node_modules/jackdaw']!.dependencies).toEqual(read('package.json').dependencies);
  expect(packages['']!.dependencies).toEqual(read('deploy/package.json').dependencies);
  const unchecked = Object.keys(packages).filter((path) => path !== '' && !packages[path]!.integrity);
  expect(unchecked).toEqual(['node_modules/jackdaw']);
});

it('the image sets variables that the server has', () => {
  const [, line] = /^ENV (.*)$/m.exec(readFileSync('deploy/Dockerfile', 'utf8'))!;
  const names = line!.split(' ').map((pair) => pair.split('=')[0]!);
  expect(unknown(names.filter((name) => name !== 'NODE_ENV'))).toEqual([]);
});
