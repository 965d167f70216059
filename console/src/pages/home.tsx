import { useEffect } from 'preact/hooks';
import { onChanges } from '../changes';
import { FailedRuns } from '../components/failed-runs';
import { Show, useLatest, useLoad } from '../components/load';
import { Status } from '../components/parts';
import { Table } from '../components/table';
import { compact, count, lastHours, money } from '../format';
import { t } from '../i18n';
import { href } from '../router';
import { may } from '../caller';
import type { RunCounts, RunStatus, UsagePage } from '../types';

interface Health {
  readonly status: string;
  readonly details: Readonly<Record<string, { readonly status: string; readonly [member: string]: unknown }>>;
}

const HOUR_MS = 3_600_000;
const COUNT_EVERY_MS = 3_000;
/** Windows of the overview, in hours. */
const WINDOWS = [1, 24] as const;
const STATUSES: readonly RunStatus[] = ['running', 'queued', 'waiting', 'completed', 'failed', 'cancelled'];

export function Page() {
  return (
    <div class="page">
      <h1>{t('nav.home')}</h1>
      {WINDOWS.map((hours) => (
        <Window key={hours} hours={hours} />
      ))}
      {may('usage:read') && <UsageToday />}
      <HealthView />
    </div>
  );
}

function Window({ hours }: { readonly hours: number }) {
  const from = Math.floor((Date.now() - hours * HOUR_MS) / 60_000) * 60_000;
  const loaded = useLatest(useLoad<RunCounts>('runs/counts', { from }));
  useEffect(() => onChanges(loaded.reload, COUNT_EVERY_MS), []);
  return (
    <section class="stack">
      <h2>{lastHours(hours)}</h2>
      <Show of={loaded}>
        {({ by_status, failed }) => (
          <>
            <div class="figures">
              {STATUSES.map((status) => (
                <a key={status} class="figure" href={href(['runs'], { status, hours: String(hours) })}>
                  <b>{count(by_status[status] ?? 0)}</b>
                  <span>
                    <Status value={status} />
                  </span>
                </a>
              ))}
            </div>
            <FailedRuns failed={failed} query={{ hours: String(hours) }} />
          </>
        )}
      </Show>
    </section>
  );
}

function UsageToday() {
  const today = new Date().toISOString().slice(0, 10);
  const loaded = useLoad<UsagePage>('usage', { by: 'day', from: today });
  return (
    <section class="stack">
      <h2>{t('home.usageToday')}</h2>
      <Show of={loaded}>
        {({ total: { calls, usage } }) => (
          <div class="figures">
            <Figure label={t('home.calls')} value={count(calls)} />
            <Figure label={t('home.promptTokens')} value={compact(usage.prompt_tokens)} />
            <Figure label={t('home.completionTokens')} value={compact(usage.completion_tokens)} />
            {usage.cost !== undefined && <Figure label={t('home.cost')} value={money(usage.cost)} />}
          </div>
        )}
      </Show>
    </section>
  );
}

function Figure({ label, value }: { readonly label: string; readonly value: string }) {
  return (
    <a class="figure" href={href(['usage'])}>
      <b>{value}</b>
      <span class="muted">{label}</span>
    </a>
  );
}

function HealthView() {
  const loaded = useLoad<Health>('agent/health');
  return (
    <section class="stack">
      <h2>{t('home.health')}</h2>
      <Show of={loaded}>
        {({ details }) => (
          <Table
            label={t('home.health')}
            items={Object.entries(details)}
            keyOf={([name]) => name}
            columns={[
              { title: t('home.part'), cell: ([name]) => name },
              { title: t('status'), cell: ([, { status }]) => <Up value={status} />, isNarrow: true },
              { title: t('details'), cell: ([, { status: _status, ...rest }]) => detailsOf(rest), isText: true },
            ]}
          />
        )}
      </Show>
    </section>
  );
}

function Up({ value }: { readonly value: string }) {
  return <span class={`badge ${value === 'up' ? 'good' : value === 'down' ? 'bad' : 'warn'}`}>{value}</span>;
}

function detailsOf(values: object): string {
  return Object.entries(values)
    .map(([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' · ');
}
