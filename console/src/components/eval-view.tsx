import { useState } from 'preact/hooks';
import type { EvalFigures, EvalResult, StoredEval } from '../evals';
import { compact, count, dateTime, duration, money, percent } from '../format';
import { t } from '../i18n';
import { go, href, route, setQuery } from '../router';
import { Facts, RunLink, Status, visible, When } from './parts';
import { Table, usePages } from './table';

type Rate = EvalFigures['passRate'];

/** Rows of the table of lines before a button shows further ones. */
const ROWS = 200;

/** The pass rate with its 95 % interval. */
export function RateView({ rate: { rate, low, high, passed, total } }: { readonly rate: Rate }) {
  return (
    <span title={`${count(passed)} / ${count(total)}`}>
      {percent(rate)} <span class="small muted">{t('evals.interval', { low: percent(low), high: percent(high) })}</span>
    </span>
  );
}

export function Gates({ report: { gates, isPassed } }: { readonly report: EvalFigures }) {
  if (gates.length === 0) return <span class="muted">{t('form.none')}</span>;
  return <Outcome isPassed={isPassed} />;
}

function Outcome({ isPassed }: { readonly isPassed: boolean }) {
  return <span class={`badge ${isPassed ? 'good' : 'bad'}`}>{t(isPassed ? 'evals.isPassed' : 'evals.isFailed')}</span>;
}

export function Subject({ report: { agent, workflow } }: { readonly report: EvalFigures }) {
  if (workflow !== undefined) return <a href={href(['workflows', workflow])}>{workflow}</a>;
  return agent === undefined ? <>{t('evals.defaultAgent')}</> : <a href={href(['agents', agent])}>{agent}</a>;
}

export function linesOf({ lines, repeat }: EvalFigures): string {
  return repeat === 1 ? count(lines) : `${count(lines)} × ${count(repeat)}`;
}

export function costOf({ usage, judgeUsage }: EvalFigures): string {
  return money(usage.cost + judgeUsage.cost);
}

/** One eval: its figures, and its lines with links to their runs. */
export function EvalView({ stored: { id, report, created_at: at, created_by: by } }: { readonly stored: StoredEval }) {
  const { name, usage, judgeUsage, latencyMs, passRate, gates } = report;
  return (
    <>
      <div class="head">
        <h1>{name}</h1>
        {gates.length > 0 && <Gates report={report} />}
        <div class="end row">
          <CompareWith id={id} name={name} />
        </div>
      </div>
      <div class="card">
        <Facts
          items={[
            [t('evals.passed'), <RateView rate={passRate} />],
            [t('evals.subject'), <Subject report={report} />],
            [t('evals.lines'), linesOf(report)],
            [t('usage.cost'), costOf(report)],
            [t('usage.tokens'), compact(usage.tokens + judgeUsage.tokens)],
            [t('evals.ofJudges'), judgeUsage.tokens > 0 ? compact(judgeUsage.tokens) : undefined],
            [t('evals.median'), duration(latencyMs.median)],
            [t('usage.p95'), duration(latencyMs.p95)],
            [t('time'), <When at={at} />],
            [t('evals.by'), by],
          ]}
        />
      </div>
      <Scorers report={report} />
      <Lines results={report.results} />
    </>
  );
}

function Scorers({ report: { scorers, gates } }: { readonly report: EvalFigures }) {
  return (
    <div class="columns">
      <Table
        label={t('evals.scorers')}
        items={Object.entries(scorers)}
        keyOf={([name]) => name}
        columns={[
          { title: t('evals.scorer'), cell: ([name]) => name },
          { title: t('evals.mean'), cell: ([, { mean }]) => rounded(mean), isNumber: true },
          { title: t('evals.passed'), cell: ([, { passRate }]) => <RateView rate={passRate} />, isNumber: true },
        ]}
      />
      {gates.length > 0 && (
        <Table
          label={t('evals.gates')}
          items={gates}
          keyOf={({ gate }) => gate}
          columns={[
            { title: t('evals.gate'), cell: ({ gate }) => gate },
            { title: t('evals.limit'), cell: ({ limit }) => rounded(limit), isNumber: true },
            { title: t('evals.actual'), cell: ({ actual }) => rounded(actual), isNumber: true },
            { title: t('status'), cell: ({ isPassed }) => <Outcome isPassed={isPassed} /> },
          ]}
        />
      )}
    </div>
  );
}

function rounded(value: number): string {
  return count(Math.round(value * 1000) / 1000);
}

const SHOWN = ['failed', 'passed'] as const;

function Lines({ results }: { readonly results: readonly EvalResult[] }) {
  const { show = '', line = '' } = route.value.query;
  const [rows, setRows] = useState(ROWS);
  const found = results.filter(
    (one) => (show === '' || one.isPassed === (show === 'passed')) && one.line.includes(line),
  );
  return (
    <section class="stack">
      <div class="head">
        <h2>{t('evals.lines')}</h2>
        <span class="muted">{t('evals.shown', { shown: count(found.length), all: count(results.length) })}</span>
      </div>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <div class="field">
          <label for="show">{t('evals.outcome')}</label>
          <select id="show" value={show} onChange={({ currentTarget }) => setQuery({ show: currentTarget.value })}>
            <option value="">{t('all')}</option>
            {SHOWN.map((value) => (
              <option key={value} value={value}>
                {t(value === 'passed' ? 'evals.isPassed' : 'evals.isFailed')}
              </option>
            ))}
          </select>
        </div>
        <div class="field">
          <label for="line">{t('evals.line')}</label>
          <input
            id="line"
            size={12}
            value={line}
            onInput={({ currentTarget }) => setQuery({ line: currentTarget.value })}
          />
        </div>
      </form>
      {found.length === 0 ? (
        <p class="empty">{t('evals.noMatch')}</p>
      ) : (
        <LineTable results={found.slice(0, rows)} hasRepetitions={results.some(({ repetition }) => repetition > 1)} />
      )}
      {found.length > rows && (
        <div>
          <button type="button" onClick={() => setRows(rows + ROWS)}>
            {t('more')}
          </button>
        </div>
      )}
    </section>
  );
}

function LineTable({
  results,
  hasRepetitions,
}: {
  readonly results: readonly EvalResult[];
  readonly hasRepetitions: boolean;
}) {
  return (
    <Table
      label={t('evals.lines')}
      items={results}
      keyOf={({ line, repetition }) => `${repetition} ${line}`}
      columns={[
        { title: t('evals.outcome'), cell: ({ isPassed }) => <Outcome isPassed={isPassed} />, isNarrow: true },
        {
          title: t('evals.line'),
          cell: ({ line, repetition, input }) => (
            <LineName line={hasRepetitions ? `${line} #${repetition}` : line} input={input} />
          ),
        },
        { title: t('evals.scores'), cell: (result) => <Scores result={result} />, isText: true },
        { title: t('duration'), cell: ({ durationMs }) => duration(durationMs), isNumber: true },
        { title: t('usage.cost'), cell: ({ usage }) => money(usage.cost), isNumber: true },
        {
          title: t('run'),
          cell: ({ runId }) => (runId === '' ? t('form.none') : <RunLink id={runId} />),
          isNarrow: true,
        },
      ]}
    />
  );
}

/** The id of a line, with the start of its question. */
export function LineName({ line, input = '' }: { readonly line: string; readonly input?: string | undefined }) {
  return (
    <>
      {visible(line)}
      {input !== '' && <div class="small muted">{visible(input)}</div>}
    </>
  );
}

/** The scores; those of a failed line with their reasons. */
function Scores({ result: { scores, error, status, isPassed } }: { readonly result: EvalResult }) {
  const all = Object.entries(scores);
  if (isPassed) return <>{all.map(([name, { score }]) => `${name} ${rounded(score)}`).join(' · ')}</>;
  return (
    <>
      {all.map(([name, { score, reason }]) => (
        <div key={name}>
          {name} <b>{rounded(score)}</b> <span class="muted">{visible(reason)}</span>
        </div>
      ))}
      {error !== undefined && (
        <div>
          <Status value={status} /> {visible(error)}
        </div>
      )}
    </>
  );
}

/** Opens the comparison with another eval of the same name. */
function CompareWith({ id, name }: { readonly id: string; readonly name: string }) {
  const { items = [] } = usePages<StoredEval<EvalFigures>>('evals', 'evals', { name });
  const others = items.filter((one) => one.id !== id);
  if (others.length === 0) return null;
  return (
    <select
      aria-label={t('evals.compareWith')}
      value=""
      onChange={({ currentTarget }) => go(['evals', id, 'with', currentTarget.value])}
    >
      <option value="">{t('evals.compareWith')}</option>
      {others.map(({ id: other, created_at: at, report }) => (
        <option key={other} value={other}>
          {dateTime(at)} · {percent(report.passRate.rate)}
        </option>
      ))}
    </select>
  );
}
