import { Show, useLoad } from '../components/load';
import { Facts } from '../components/parts';
import { PageList, Table, usePages } from '../components/table';
import { compact, count, money } from '../format';
import { t } from '../i18n';
import { route, setQuery } from '../router';
import type { Usage } from '../types';

const GROUPS = ['day', 'model', 'session'] as const;
const DAYS = [1, 7, 30, 90] as const;
const DAY_MS = 86_400_000;

interface Entry {
  readonly key: string | null;
  readonly calls: number;
  readonly usage: Usage;
}

/** Tokens and cost of model calls. */
export function Page() {
  const { by = 'day', days = '30' } = route.value.query;
  const from = new Date(Date.now() - (Number(days) - 1) * DAY_MS).toISOString().slice(0, 10);
  const query = { by, from };
  const pages = usePages<Entry>('usage', 'entries', query);
  const total = useLoad<{ total: { calls: number; usage: Usage } }>('usage', { ...query, limit: 1 });
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
          <div class="card">
            <Facts
              items={[
                [t('home.calls'), count(calls)],
                [t('usage.promptTokens'), count(usage.prompt_tokens)],
                [t('usage.cachedTokens'), usage.cached_tokens === undefined ? undefined : count(usage.cached_tokens)],
                [t('usage.completionTokens'), count(usage.completion_tokens)],
                [t('usage.cost'), usage.cost === undefined ? undefined : money(usage.cost)],
              ]}
            />
          </div>
        )}
      </Show>
      <PageList pages={pages} empty={t('usage.none')}>
        {(items) => (
          <>
            {by === 'day' && <Bars entries={items} />}
            <Table
              label={t('nav.usage')}
              items={items}
              keyOf={({ key }) => key ?? ''}
              columns={[
                { title: t(`usage.by.${by as 'day'}`), cell: ({ key }) => key ?? t('form.none') },
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
    </div>
  );
}

/** Tokens of each day as bars. The table below has the figures. */
function Bars({ entries }: { readonly entries: readonly Entry[] }) {
  const days = entries.toSorted((a, b) => (a.key ?? '').localeCompare(b.key ?? ''));
  const highest = Math.max(1, ...days.map(({ usage }) => usage.total_tokens));
  const width = 100 / Math.max(days.length, 7);
  return (
    <svg class="bars" viewBox="0 0 100 30" preserveAspectRatio="none" role="img" aria-label={t('usage.chart')}>
      {days.map(({ key, usage }, at) => {
        const height = (usage.total_tokens / highest) * 29;
        return (
          <rect key={key} class="bar-model" x={at * width} y={30 - height} width={width * 0.8} height={height}>
            <title>
              {key}: {compact(usage.total_tokens)}
            </title>
          </rect>
        );
      })}
    </svg>
  );
}
