import { useEffect, useRef, useState } from 'preact/hooks';
import { request } from '../api';
import { onChanges } from '../changes';
import { DatasetButton } from '../components/dataset';
import { FailedRuns } from '../components/failed-runs';
import { Filters, SelectFilter, TextFilter } from '../components/filters';
import { Fault, useLatest, useLoad } from '../components/load';
import { shortId, Status, When } from '../components/parts';
import { VirtualList } from '../components/virtual-list';
import { compact, duration, lastHours } from '../format';
import { t, tValue } from '../i18n';
import { href, route } from '../router';
import type { ListedRun, RunCounts, RunPage } from '../types';
import { RunView } from './run';

const STATUSES = ['queued', 'running', 'waiting', 'completed', 'failed', 'cancelled'] as const;
const KINDS = ['agent', 'workflow', 'tool'] as const;
const ROW_PX = 44;
const PAGE_SIZE = 100;
const READ_EVERY_MS = 2_000;
const COUNT_EVERY_MS = 3_000;
/** Values of the filter for the time, in hours. */
const HOURS = [1, 24, 168] as const;
const HOUR_MS = 3_600_000;

/** `#/runs` is the list, `#/runs/<id>` a run, `#/runs/<id>/with/<other>` two runs side by side. */
export function Page({ path }: { readonly path: readonly string[] }) {
  const [id, , other] = path;
  if (id === undefined) return <RunList />;
  if (other === undefined) return <RunView id={id} />;
  return (
    <div class="columns">
      <RunView id={id} isNarrow />
      <RunView id={other} isNarrow />
    </div>
  );
}

type Filter = Readonly<Record<string, string>>;

function queryOf({ status, agent, session, kind, code, text, hours }: Filter): Record<string, string | number> {
  return {
    limit: PAGE_SIZE,
    ...(status && { status }),
    ...(agent && { agent }),
    ...(session && { sessionId: session }),
    ...(kind && { kind }),
    ...(code && { errorCode: code }),
    ...(text && { text }),
    ...(hours && { from: Date.now() - Number(hours) * HOUR_MS }),
  };
}

/** Whether the completed runs of the list are a dataset that the API returns. */
function isDataset({ status = 'completed', agent: _agent, hours: _hours, ...others }: Filter): boolean {
  return status === 'completed' && Object.keys(others).length === 0;
}

function datasetQuery({ agent, hours }: Filter) {
  return { agent, ...(hours && { from: Date.now() - Number(hours) * HOUR_MS }) };
}

function RunList() {
  const { query } = route.value;
  const { runs, page, error, more, reload } = useRuns(query);
  return (
    <div class="page">
      <div class="head">
        <h1>{t('nav.runs')}</h1>
        {query['text'] && page?.is_search_complete === false && <span class="small muted">{t('runs.searched')}</span>}
        <div class="end">{isDataset(query) && runs.length > 0 && <DatasetButton query={datasetQuery(query)} />}</div>
      </div>
      <RunFilters query={query} />
      <Failures query={query} />
      {error && <Fault error={error} retry={reload} />}
      {page && runs.length === 0 && (
        <p class="empty">{t(Object.keys(query).length > 0 ? 'runs.noMatch' : 'runs.none')}</p>
      )}
      {!page && !error && <p class="empty">{t('loading')}</p>}
      {runs.length > 0 && (
        <VirtualList items={runs} rowHeight={ROW_PX} label={t('nav.runs')} onEnd={more}>
          {(run) => <RunRow run={run} />}
        </VirtualList>
      )}
    </div>
  );
}

/** Failed runs of the selected time, else of the last day, grouped by error code. */
function Failures({ query }: { readonly query: Filter }) {
  const { hours = '24', agent, kind } = query;
  const from = Math.floor((Date.now() - Number(hours) * HOUR_MS) / 60_000) * 60_000;
  const { value, reload } = useLatest(useLoad<RunCounts>('runs/counts', { from, agent, kind }));
  useEffect(() => onChanges(reload, COUNT_EVERY_MS), []);
  const shown = { ...(agent && { agent }), ...(kind && { kind }), hours };
  return value ? <FailedRuns failed={value.failed} query={shown} /> : null;
}

/** The pages of a list so far. A change of a run reads the first page again. */
function useRuns(filter: Filter) {
  const [state, setState] = useState<{ runs: readonly ListedRun[]; page?: RunPage }>({ runs: [] });
  const [error, setError] = useState<Error>();
  const isLoading = useRef(false);
  const source = JSON.stringify(filter);
  const current = useRef(source);
  current.current = source;

  const read = async (cursor?: string) => {
    if (isLoading.current && cursor !== undefined) return;
    isLoading.current = true;
    try {
      const page = await request<RunPage>('runs', { ...queryOf(filter), ...(cursor !== undefined && { cursor }) });
      if (current.current !== source) return;
      setError(undefined);
      setState((old) => (cursor === undefined ? refreshed(old, page) : { runs: [...old.runs, ...page.runs], page }));
    } catch (caught) {
      setError(caught as Error);
    } finally {
      isLoading.current = false;
    }
  };

  useEffect(() => {
    setState({ runs: [] });
    void read();
    const stops = [
      // A new run is read with the first page.
      onChanges(() => void read(), READ_EVERY_MS),
      onChanges((changed) => setState((old) => ({ ...old, runs: updated(old.runs, changed) })), 250),
    ];
    return () => stops.forEach((stop) => stop());
  }, [source]);
  const { page } = state;
  return {
    ...state,
    error,
    reload: () => void read(),
    more: () => {
      if (page?.next) void read(page.next);
    },
  };
}

/** The list with the new states of its runs. A run that no longer matches the filter goes with the next reading. */
function updated(runs: readonly ListedRun[], changed: readonly ListedRun[]): readonly ListedRun[] {
  if (changed.length === 0) return runs;
  const newest = new Map(changed.map((run) => [run.run_id, run]));
  return runs.map((run) => newest.get(run.run_id) ?? run);
}

/** The new first page replaces its part of a longer list, so that the list does not jump. */
function refreshed(old: { runs: readonly ListedRun[]; page?: RunPage }, page: RunPage) {
  const last = page.runs.at(-1);
  const at = last ? old.runs.findIndex(({ run_id }) => run_id === last.run_id) : -1;
  if (at === -1 || page.next === null) return { runs: page.runs, page };
  return { runs: [...page.runs, ...old.runs.slice(at + 1)], ...(old.page && { page: old.page }) };
}

function RunRow({ run }: { readonly run: ListedRun }) {
  const { run_id, status, agent, query_preview, error_code, created_at, finished_at, usage } = run;
  return (
    <a class="list-item run-item" data-row href={href(['runs', run_id])} style={{ height: `${ROW_PX}px` }}>
      <span>
        <Status value={status} />
      </span>
      <span>
        {query_preview || <span class="mono">{shortId(run_id)}</span>}
        {error_code && <code> {error_code}</code>}
      </span>
      <span class="wide muted">{agent}</span>
      <span class="wide muted number">
        {finished_at === null ? '' : duration(finished_at - created_at)}
        {usage && usage.total_tokens > 0 ? ` · ${t('budgets.tokens', { tokens: compact(usage.total_tokens) })}` : ''}
      </span>
      <span class="muted number">
        <When at={created_at} />
      </span>
    </a>
  );
}

function RunFilters({ query }: { readonly query: Filter }) {
  return (
    <Filters>
      <SelectFilter
        name="status"
        label={t('status')}
        options={STATUSES.map((value) => [value, tValue('status', value)] as const)}
      />
      <SelectFilter
        name="kind"
        label={t('kind')}
        options={KINDS.map((value) => [value, tValue('kind', value)] as const)}
      />
      <SelectFilter
        name="hours"
        label={t('time')}
        options={HOURS.map((hours) => [String(hours), lastHours(hours)] as const)}
      />
      <TextFilter name="agent" label={t('agent')} />
      <TextFilter name="session" label={t('session')} />
      <TextFilter name="code" label={t('errorCode')} />
      <TextFilter name="text" label={t('runs.text')} />
      {Object.keys(query).length > 0 && (
        <a class="button" href={href(['runs'])}>
          {t('runs.clear')}
        </a>
      )}
    </Filters>
  );
}
