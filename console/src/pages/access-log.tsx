import { Filters, TextFilter } from '../components/filters';
import { PageList, Table, usePages } from '../components/table';
import { dateTime } from '../format';
import { t } from '../i18n';
import { href, route } from '../router';

interface AccessEntry {
  readonly at: number;
  readonly principal: string;
  readonly action: string;
  readonly target_kind: string;
  readonly target_id: string;
}

/** Who read, exported, forked or erased data. */
export function Page() {
  const { principal = '', target = '' } = route.value.query;
  const pages = usePages<AccessEntry>('access-log', 'entries', { principal, targetId: target });
  return (
    <div class="page">
      <h1>{t('nav.accessLog')}</h1>
      <Filters>
        <TextFilter name="principal" label={t('access.principal')} />
        <TextFilter name="target" label={t('access.target')} />
      </Filters>
      <PageList pages={pages} empty={t(principal === '' && target === '' ? 'access.none' : 'access.noMatch')}>
        {(items) => (
          <Table
            label={t('nav.accessLog')}
            items={items}
            keyOf={({ at, principal: id, action, target_id }) => `${at} ${id} ${action} ${target_id}`}
            columns={[
              { title: t('time'), cell: ({ at }) => dateTime(at), isNarrow: true },
              { title: t('access.principal'), cell: (entry) => entry.principal },
              { title: t('access.action'), cell: ({ action }) => action },
              { title: t('kind'), cell: ({ target_kind }) => target_kind },
              { title: t('access.target'), cell: (entry) => <Target entry={entry} /> },
            ]}
          />
        )}
      </PageList>
    </div>
  );
}

function Target({ entry: { target_kind, target_id } }: { readonly entry: AccessEntry }) {
  const page = { run: 'runs', session: 'sessions' }[target_kind];
  return page === undefined || target_id === '' ? <>{target_id}</> : <a href={href([page, target_id])}>{target_id}</a>;
}
