import { EvalComparison } from '../components/eval-comparison';
import { costOf, EvalView, Gates, linesOf, RateView, Subject } from '../components/eval-view';
import { Show, useLoad } from '../components/load';
import { When } from '../components/parts';
import { PageList, Table, usePages } from '../components/table';
import type { EvalFigures, StoredEval } from '../evals';
import { duration } from '../format';
import { t } from '../i18n';
import { href, route } from '../router';

type ListedEval = StoredEval<EvalFigures>;
/** `#/evals` is the list, `#/evals/<id>` an eval, `#/evals/<id>/with/<earlier>` its comparison with another one. */
export function Page({ path }: { readonly path: readonly string[] }) {
  const [id, , other] = path;
  if (id === undefined) return <EvalList />;
  return other === undefined ? <Loaded id={id} /> : <Compared id={id} other={other} />;
}

function EvalList() {
  const { name } = route.value.query;
  const pages = usePages<ListedEval>('evals', 'evals', { name });
  return (
    <div class="page">
      <div class="head">
        <h1>{t('nav.evals')}</h1>
        {name && (
          <a class="button" href={href(['evals'])}>
            {t('evals.allNames')}
          </a>
        )}
      </div>
      <PageList pages={pages} empty={t('evals.none')}>
        {(items) => (
          <Table
            label={t('nav.evals')}
            items={items}
            keyOf={({ id }) => id}
            columns={[
              { title: t('evals.name'), cell: ({ id, report }) => <a href={href(['evals', id])}>{report.name}</a> },
              { title: t('evals.gates'), cell: ({ report }) => <Gates report={report} />, isNarrow: true },
              { title: t('evals.passed'), cell: ({ report }) => <RateView rate={report.passRate} />, isNumber: true },
              { title: t('evals.subject'), cell: ({ report }) => <Subject report={report} /> },
              { title: t('evals.lines'), cell: ({ report }) => linesOf(report), isNumber: true },
              { title: t('usage.cost'), cell: ({ report }) => costOf(report), isNumber: true },
              { title: t('evals.median'), cell: ({ report }) => duration(report.latencyMs.median), isNumber: true },
              { title: t('time'), cell: ({ created_at }) => <When at={created_at} /> },
            ]}
          />
        )}
      </PageList>
    </div>
  );
}

function Loaded({ id }: { readonly id: string }) {
  const loaded = useLoad<StoredEval>(`evals/${id}`);
  return (
    <div class="page">
      <Show of={loaded} title={t('evals.eval')}>
        {(stored) => <EvalView stored={stored} />}
      </Show>
    </div>
  );
}

function Compared({ id, other }: { readonly id: string; readonly other: string }) {
  const [present, former] = [useLoad<StoredEval>(`evals/${id}`), useLoad<StoredEval>(`evals/${other}`)];
  return (
    <div class="page">
      <Show of={present} title={t('evals.comparison')}>
        {(now) => <Show of={former}>{(before) => <EvalComparison now={now} before={before} />}</Show>}
      </Show>
    </div>
  );
}
