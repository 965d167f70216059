import { Show, useLoad } from '../components/load';
import { Facts, shortId, When } from '../components/parts';
import { PageList, Table, usePages } from '../components/table';
import { count, duration, money } from '../format';
import { t } from '../i18n';
import { href, route, setQuery } from '../router';
import type { UsageEntry, UsagePage } from '../types';

const GROUPS = ['day', 'agent', 'model', 'session'] as const;
const DAYS = [1, 7, 30, 90] as const;
const DAY_MS = 86_400_000;

/** Tokens and cost of model calls. */
export function Page() {
  const { by = 'day', days = '30' } = route.value.query;
  const from = new Date(Date.now() - (Number(days) - 1) * DAY_MS).toISOString().slice(0, 10);
  const query = { by, from };
  const pages = usePages<UsageEntry>('usage', 'entries', query);
  const total = useLoad<UsagePage>('usage', { ...query, limit: 1 });
  return (
    <div class="page">
      <div class="head">
        <h1>{t('nav.usage')}</h1>
        <div class="end row">
          <select
            aria-label={t('usage.by')}
            value={by}
            onChange={({ currentTarget }) => setQuery({ by: currentTarget.value })}
          >
            {GROUPS.map((group) => (
              <option key={group} value={group}>
                {t(`usage.by.${group}`)}
              </option>
            ))}
          </select>
          <select
            aria-label={t('time')}
            value={days}
            onChange={({ currentTarget }) => setQuery({ days: currentTarget.value })}
          >
            {DAYS.map((each) => (
              <option key={each} value={String(each)}>
                {t('usage.days', { days: each })}
              </option>
            ))}
          </select>
        </div>
      </div>
      <Show of={total}>
        {({ total: { calls, usage } }) => (
          <Facts
            items={[
              [t('home.calls'), count(calls)],
              [t('usage.promptTokens'), count(usage.prompt_tokens)],
              [t('usage.cachedTokens'), usage.cached_tokens === undefined ? undefined : count(usage.cached_tokens)],
              [t('usage.completionTokens'), count(usage.completion_tokens)],
              [t('usage.cost'), usage.cost === undefined ? undefined : money(usage.cost)],
            ]}
          />
        )}
      </Show>
      <PageList pages={pages} empty={t('usage.none')}>
        {(items) => (
          <>
            {by === 'day' && <Bars entries={items} from={from} />}
            <Table
              label={t('nav.usage')}
              items={items}
              keyOf={({ key }) => key ?? ''}
              columns={[
                { title: t(`usage.by.${by as 'day'}`), cell: ({ key }) => <KeyView by={by} value={key} /> },
                { title: t('home.calls'), cell: ({ calls }) => count(calls), isNumber: true },
                { title: t('usage.promptTokens'), cell: ({ usage }) => count(usage.prompt_tokens), isNumber: true },
                {
                  title: t('usage.completionTokens'),
                  cell: ({ usage }) => count(usage.completion_tokens),
                  isNumber: true,
                },
                {
                  title: t('usage.cost'),
                  cell: ({ usage }) => (usage.cost === undefined ? '' : money(usage.cost)),
                  isNumber: true,
                },
              ]}
            />
          </>
        )}
      </PageList>
      <LatencyTable query={query} />
      <Budgets />
    </div>
  );
}

/** The name of a group, with a link to what it has. */
function KeyView({ by, value }: { readonly by: string; readonly value: string | null }) {
  if (value === null) return <>{t('form.none')}</>;
  if (by === 'session') return <a href={href(['sessions', value])}>{shortId(value)}</a>;
  return by === 'agent' ? <a href={href(['runs'], { agent: value })}>{value}</a> : <>{value}</>;
}

interface Latency {
  readonly calls: number;
  readonly percentiles: {
    readonly p50: number;
    readonly p90: number;
    readonly p95: number;
    readonly p99: number;
  } | null;
}

interface LatencyEntry {
  readonly key: string | null;
  readonly duration: Latency;
  readonly first_token: Latency;
}

interface Amount {
  readonly tokens?: number;
  readonly cost?: number;
}

interface Budget {
  readonly name: 'tenant_day' | 'day';
  readonly agent: string | null;
  readonly limit: Amount;
  readonly used: Amount;
  readonly remaining: Amount;
  readonly resets_at: number;
}

/** The budgets of the day; nothing without budgets. */
function Budgets() {
  const { value } = useLoad<{ budgets: readonly Budget[] }>('usage/budgets');
  if (!value || value.budgets.length === 0) return null;
  return (
    <section class="stack">
      <h2>{t('budgets')}</h2>
      <Table
        label={t('budgets')}
        items={value.budgets}
        keyOf={({ name, agent }) => `${name} ${agent}`}
        columns={[
          { title: t('budgets.of'), cell: ({ name }) => t(`budgets.${name}`) },
          { title: t('agent'), cell: ({ agent }) => agent ?? t('all') },
          { title: t('budgets.limit'), cell: ({ limit }) => <AmountView amount={limit} />, isNumber: true },
          {
            title: t('budgets.used'),
            cell: ({ used, limit }) => <AmountView amount={used} of={limit} />,
            isNumber: true,
          },
          { title: t('budgets.remaining'), cell: ({ remaining }) => <AmountView amount={remaining} />, isNumber: true },
          { title: t('budgets.reset'), cell: ({ resets_at }) => <When at={resets_at} /> },
        ]}
      />
    </section>
  );
}

/** @param of shows only the units that this amount has */
function AmountView({ amount: { tokens, cost }, of }: { readonly amount: Amount; readonly of?: Amount }) {
  const shown = [
    tokens === undefined || (of && of.tokens === undefined) ? '' : t('budgets.tokens', { tokens: count(tokens) }),
    cost === undefined || (of && of.cost === undefined) ? '' : t('budgets.cost', { cost: money(cost) }),
  ];
  return <>{shown.filter((text) => text !== '').join(' · ')}</>;
}

function percentile({ percentiles }: Latency, name: 'p50' | 'p95' | 'p99'): string {
  return percentiles === null ? '' : duration(percentiles[name]);
}

/** Durations of the model calls, and their times to the first token. */
function LatencyTable({ query }: { readonly query: Readonly<Record<string, string>> }) {
  const pages = usePages<LatencyEntry>('usage/latency', 'entries', query);
  return (
    <section class="stack">
      <h2>{t('usage.latency')}</h2>
      <PageList pages={pages} empty={t('usage.none')}>
        {(items) => (
          <Table
            label={t('usage.latency')}
            items={items}
            keyOf={({ key }) => key ?? ''}
            columns={[
              { title: t(`usage.by.${query['by'] as 'day'}`), cell: ({ key }) => key ?? t('form.none') },
              { title: t('home.calls'), cell: ({ duration: all }) => count(all.calls), isNumber: true },
              { title: t('usage.p50'), cell: ({ duration: all }) => percentile(all, 'p50'), isNumber: true },
              { title: t('usage.p95'), cell: ({ duration: all }) => percentile(all, 'p95'), isNumber: true },
              { title: t('usage.p99'), cell: ({ duration: all }) => percentile(all, 'p99'), isNumber: true },
              {
                title: t('usage.firstP50'),
                cell: ({ first_token: first }) => percentile(first, 'p50'),
                isNumber: true,
              },
              {
                title: t('usage.firstP95'),
                cell: ({ first_token: first }) => percentile(first, 'p95'),
                isNumber: true,
              },
            ]}
          />
        )}
      </PageList>
    </section>
  );
}

/** Tokens of each day of the period as bars. The table below has the figures. */
function Bars({ entries, from }: { readonly entries: readonly UsageEntry[]; readonly from: string }) {
  const tokens = new Map(entries.map(({ key, usage }) => [key, usage.total_tokens]));
  const days: string[] = [];
  for (let at = Date.parse(from); at <= Date.now(); at += DAY_MS) days.push(new Date(at).toISOString().slice(0, 10));
  const highest = Math.max(1, ...tokens.values());
  const width = 100 / Math.max(days.length, 7);
  return (
    <figure class="card stack">
      <figcaption class="small muted">{t('usage.chart', { highest: count(highest) })}</figcaption>
      <svg class="bars" viewBox="0 0 100 30" preserveAspectRatio="none" role="img" aria-label={t('usage.perDay')}>
        {days.map((day, at) => {
          const used = tokens.get(day) ?? 0;
          const height = Math.max((used / highest) * 30, 0.3);
          return (
            <rect key={day} class="bar-model" x={at * width} y={30 - height} width={width * 0.8} height={height}>
              <title>
                {day}: {count(used)}
              </title>
            </rect>
          );
        })}
      </svg>
      <div class="row small muted axis">
        <span>{days[0]}</span>
        {days.length > 1 && <span>{days.at(-1)}</span>}
      </div>
    </figure>
  );
}
