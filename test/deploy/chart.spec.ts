import { describe, expect, it } from 'vitest';
import { type Manifest, renderChart } from '../support/chart.js';

interface Model {
  validate(): void;
}

/** Validates an object against the OpenAPI schema of its kind. @throws for an unknown or invalid member */
async function validate(manifest: Manifest): Promise<void> {
  const group = manifest.apiVersion.startsWith('monitoring.coreos.com/')
    ? `@kubernetes-models/prometheus-operator/${manifest.apiVersion}`
    : `kubernetes-models/${manifest.apiVersion}`;
  const models = (await import(group)) as Record<string, new (data: object) => Model>;
  new models[manifest.kind]!(manifest).validate();
}

const SETS: readonly (readonly [name: string, values: object, kinds: string])[] = [
  [
    'the default: two replicas with PostgreSQL',
    {},
    'Deployment Job NetworkPolicy PodDisruptionBudget Service ServiceAccount',
  ],
  [
    'SQLite',
    { database: { type: 'sqlite' }, persistence: { size: '1Gi', storageClass: 'fast' } },
    'Deployment NetworkPolicy PersistentVolumeClaim Service ServiceAccount',
  ],
  [
    'SQLite on an existing volume',
    { database: { type: 'sqlite' }, persistence: { existingClaim: 'mine' }, networkPolicy: { enabled: false } },
    'Deployment Service ServiceAccount',
  ],
  [
    'MariaDB with Redis, without a migration job',
    { database: { type: 'mysql', migrationJob: false }, redis: { existingSecret: 'redis' } },
    'Deployment NetworkPolicy PodDisruptionBudget Service ServiceAccount',
  ],
  [
    'autoscaling, ingress with TLS and the Prometheus operator',
    {
      autoscaling: { enabled: true, maxReplicas: 20 },
      ingress: { enabled: true, className: 'nginx', host: 'agents.example.com', tlsSecret: 'tls' },
      metrics: { serviceMonitor: true },
      env: { HTTP_PREFIX: '/jackdaw', TRUST_PROXY: '1' },
    },
    'Deployment HorizontalPodAutoscaler Ingress Job NetworkPolicy PodDisruptionBudget Service ServiceAccount ServiceMonitor',
  ],
  [
    'configuration files, policies and placement',
    {
      configFiles: { 'agents/support.json': '{"name":"support","instructions":"Help."}', 'mcp-servers.json': '{}' },
      networkPolicy: {
        from: [{ podSelector: { matchLabels: { app: 'web' } } }],
        to: [{ ipBlock: { cidr: '10.0.0.0/8' } }],
      },
      nodeSelector: { disk: 'ssd' },
      tolerations: [{ key: 'agents', operator: 'Exists' }],
      imagePullSecrets: [{ name: 'registry' }],
      podAnnotations: { team: 'agents' },
      serviceAccount: { name: 'agents', annotations: { role: 'reader' } },
    },
    'ConfigMap Deployment Job NetworkPolicy PodDisruptionBudget Service ServiceAccount',
  ],
];

describe('the chart', () => {
  it.each(SETS)('renders valid objects for %s', async (_name, values, kinds) => {
    const manifests = await renderChart(values);
    expect(manifests.map(({ kind }) => kind).toSorted()).toEqual(kinds.split(' '));
    for (const manifest of manifests) await validate(manifest);
  });

  it.each(SETS)('restricts the pods for %s', async (_name, values) => {
    for (const { kind, spec } of await renderChart(values)) {
      if (kind !== 'Deployment' && kind !== 'Job') continue;
      const pod = (spec as { template: { spec: Pod } }).template.spec;
      expect(pod).toMatchObject({ automountServiceAccountToken: false, securityContext: { runAsNonRoot: true } });
      expect(pod.containers[0]).toMatchObject({
        securityContext: {
          readOnlyRootFilesystem: true,
          allowPrivilegeEscalation: false,
          capabilities: { drop: ['ALL'] },
        },
      });
    }
  });

  it('has one replica with SQLite, which stops before its successor starts', async () => {
    const manifests = await renderChart({
      database: { type: 'sqlite' },
      replicaCount: 5,
      autoscaling: { enabled: true },
    });
    const deployment = manifests.find(({ kind }) => kind === 'Deployment')!;
    expect(deployment.spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } });
  });

  it('scales by the whole queue, which each replica reports', async () => {
    const manifests = await renderChart({ autoscaling: { enabled: true, queuedRuns: 7 } });
    const scaler = manifests.find(({ kind }) => kind === 'HorizontalPodAutoscaler')!;
    const target = { type: 'AverageValue', averageValue: '7' };
    const external = { metric: { name: 'jackdaw_queue_depth' }, target };
    expect((scaler.spec as { metrics: object[] }).metrics).toContainEqual({ type: 'External', external });
  });

  it('serves the probes below HTTP_PREFIX', async () => {
    const [deployment] = (await renderChart({ env: { HTTP_PREFIX: '/x' } })).filter(
      ({ kind }) => kind === 'Deployment',
    );
    expect(JSON.stringify(deployment)).toContain('"/x/api/health/ready"');
  });

  it.each([
    [{ database: { type: 'mysql' } }, 'redis.existingSecret is required with mysql'],
    [{ database: { type: 'postgres', existingSecret: '' } }, 'database.existingSecret is required'],
    [{ existingSecret: '' }, 'existingSecret is required'],
  ])('is refused with the values %o', async (values, message) => {
    await expect(renderChart(values)).rejects.toMatchObject({ stderr: expect.stringContaining(message) });
  });
});

interface Pod {
  readonly containers: readonly object[];
}
