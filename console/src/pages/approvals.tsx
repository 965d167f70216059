import { useEffect, useState } from 'preact/hooks';
import { post, request } from '../api';
import { onChanges, publishChange } from '../changes';
import { Decisions } from '../components/decisions';
import { Fault } from '../components/load';
import { ActionButton, shortId, When } from '../components/parts';
import { t } from '../i18n';
import { href } from '../router';
import { may } from '../caller';
import type { ListedRequest, WaitingPage } from '../types';

function keyOf({ run_id, request: { id } }: ListedRequest): string {
  return `${run_id} ${id}`;
}

/** Everything that waits for a person, the oldest first. */
export function Page() {
  const { items, error, next, more, reload } = useWaiting();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const isChosen = (item: ListedRequest) => chosen.has(keyOf(item));
  // From the current set: a second choice may come before the page shows the first.
  const toggle = (item: ListedRequest) =>
    setChosen((current) => {
      const rest = new Set(current);
      if (!rest.delete(keyOf(item))) rest.add(keyOf(item));
      return rest;
    });
  const decide = (verb: 'approve' | 'deny') => async () => {
    // One after another: decisions about the same run would conflict.
    for (const { run_id, request: asked } of items!.filter(isChosen)) {
      await post(`runs/${run_id}/${verb}`, { callId: asked.call_id });
    }
    setChosen(new Set());
    reload();
  };
  return (
    <div class="page">
      <div class="head">
        <h1>{t('nav.approvals')}</h1>
        {chosen.size > 0 && (
          <div class="end row">
            <span>{t('approvals.chosen', { count: chosen.size })}</span>
            <ActionButton class="primary" action={decide('approve')}>
              {t('decide.approve')}
            </ActionButton>
            <ActionButton class="danger" action={decide('deny')}>
              {t('decide.deny')}
            </ActionButton>
          </div>
        )}
      </div>
      {error && <Fault error={error} retry={reload} />}
      {!items && !error && <p class="empty">{t('loading')}</p>}
      {items?.length === 0 && <p class="empty">{t('approvals.none')}</p>}
      {items?.map((item) => (
        <article key={keyOf(item)} class="stack">
          <div class="row">
            {item.may_decide && item.request.kind === 'approval' && (
              <label class="row">
                <input type="checkbox" checked={isChosen(item)} onChange={() => toggle(item)} />
                <span class="hidden">{t('approvals.choose')}</span>
              </label>
            )}
            <a href={href(['runs', item.run_id])}>
              {t('run')} <span class="mono">{shortId(item.run_id)}</span>
            </a>
            <span class="muted">{item.agent}</span>
            <span class="muted">
              <When at={item.waiting_since} />
            </span>
          </div>
          <Decisions
            runId={item.run_id}
            requests={[item.request]}
            mayDecide={item.may_decide && may('runs:write')}
            onDecided={reload}
          />
          {!item.may_decide && <p class="small muted">{t('approvals.notYou')}</p>}
        </article>
      ))}
      {next !== null && (
        <button type="button" onClick={more}>
          {t('more')}
        </button>
      )}
    </div>
  );
}

function useWaiting() {
  const [page, setPage] = useState<WaitingPage>();
  const [error, setError] = useState<Error>();
  const [limit, setLimit] = useState(50);
  const read = async () => {
    try {
      setPage(await request<WaitingPage>('waiting', { limit }));
      setError(undefined);
    } catch (caught) {
      setError(caught as Error);
    }
  };
  useEffect(() => {
    void read();
    return onChanges(() => void read());
  }, [limit]);
  return {
    items: page?.requests,
    next: page?.next ?? null,
    error,
    reload: () => publishChange(),
    more: () => setLimit(Math.min(limit * 2, 200)),
  };
}
