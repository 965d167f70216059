import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { load, loadAll } from 'js-yaml';

export const CHART = 'deploy/helm/jackdaw';

/** An object of Kubernetes. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: Readonly<Record<string, unknown>>;
}

/** The values of the chart; `values` replaces members. */
export function chartValues(values: object = {}): Readonly<Record<string, unknown>> {
  return { ...(load(readFileSync(`${CHART}/values.yaml`, 'utf8')) as object), ...values };
}

/**
 * Renders the chart by test/deploy/render.go.
 * @throws the error of the renderer, with the message of `required` and `fail` in `stderr`
 */
export async function renderChart(values: object): Promise<readonly Manifest[]> {
  const folder = mkdtempSync(join(tmpdir(), 'jackdaw-chart-'));
  try {
    const file = join(folder, 'values.json');
    writeFileSync(file, JSON.stringify(values));
    // Debian's packages of Go are no modules.
    const env = {
      ...process.env,
      GO111MODULE: 'off',
      GOPATH: '/usr/share/gocode',
      GOCACHE: join(tmpdir(), 'jackdaw-go'),
    };
    const { stdout } = await promisify(execFile)('go', ['run', 'test/deploy/render.go', CHART, file], { env });
    return loadAll(stdout).filter((one): one is Manifest => one !== null && one !== undefined);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
