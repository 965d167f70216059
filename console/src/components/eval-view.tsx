import type { EvalFigures, EvalResult, StoredEval } from '../evals';
import { compact, count, dateTime, duration, money, percent } from '../format';
import { t } from '../i18n';
import { go, href, route } from '../router';
import { EvalLines, LineName } from './eval-lines';
import { SelectFilter, TextFilter } from './filters';
import { Facts, RunLink, Status, When } from './parts';
import { Table, usePages } from './table';

type Rate = EvalFigures['passRate'];

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

function Lines({ results }: { readonly results: readonly EvalResult[] }) {
  const { show = '', line = '' } = route.value.query;
  const found = results.filter(
    (one) => (show === '' || one.isPassed === (show === 'passed')) && one.line.includes(line),
  );
  const hasRepetitions = results.some(({ repetition }) => repetition > 1);
  return (
    <EvalLines
      found={found}
      all={results.length}
      filters={
        <>
          <SelectFilter
            name="show"
            label={t('evals.outcome')}
            options={[
              ['failed', t('evals.isFailed')],
              ['passed', t('evals.isPassed')],
            ]}
          />
          <TextFilter name="line" label={t('evals.line')} isLive />
        </>
      }
    >
      {(shown) => <LineTable results={shown} hasRepetitions={hasRepetitions} />}
    </EvalLines>
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

/** The scores; those of a failed line with their reasons. */
function Scores({ result: { scores, error, status, isPassed } }: { readonly result: EvalResult }) {
  const all = Object.entries(scores);
  if (isPassed) return <>{all.map(([name, { score }]) => `${name} ${rounded(score)}`).join(' · ')}</>;
  return (
    <>
      {all.map(([name, { score, reason }]) => (
        <div key={name}>
          {name} <b>{rounded(score)}</b> <span class="muted">{reason}</span>
        </div>
      ))}
      {error !== undefined && (
        <div>
          <Status value={status} /> {error}
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
