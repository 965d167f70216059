import { compareFigures, type EvalResult, type LinePair, pairLines, PASSED, type StoredEval } from '../evals';
import { count, dateTime, percent } from '../format';
import { t } from '../i18n';
import { go, href, route } from '../router';
import { EvalLines, LineName } from './eval-lines';
import { SelectFilter } from './filters';
import { RunLink } from './parts';
import { Table } from './table';

const SHOWN = ['changed', 'better', 'worse', 'same', 'added', 'removed'] as const;
const STYLES = { better: 'good', worse: 'bad', same: '', added: 'busy', removed: 'warn' } as const;

interface Two {
  readonly before: StoredEval;
  readonly now: StoredEval;
}

/** Two evals side by side, line by line. */
export function EvalComparison({ before, now }: Two) {
  const { by = PASSED } = route.value.query;
  const scorers = Object.keys(now.report.scorers).filter((name) => name in before.report.scorers);
  const measure = scorers.includes(by) ? by : PASSED;
  const pairs = pairLines(before.report.results, now.report.results, measure);
  return (
    <>
      <div class="head">
        <h1>{now.report.name}</h1>
        <div class="end row">
          <button type="button" onClick={() => go(['evals', before.id, 'with', now.id], { by })}>
            {t('evals.swap')}
          </button>
        </div>
      </div>
      <div class="row">
        <EvalLink stored={before} label={t('evals.before')} /> → <EvalLink stored={now} label={t('evals.now')} />
      </div>
      <Measures before={before} now={now} scorers={scorers} />
      <Lines pairs={pairs} measure={measure} scorers={scorers} />
    </>
  );
}

function EvalLink({ stored: { id, created_at: at }, label }: { readonly stored: StoredEval; readonly label: string }) {
  return (
    <span>
      {label}: <a href={href(['evals', id])}>{dateTime(at)}</a>
    </span>
  );
}

/** The share of passed repetitions and the mean of each scorer, with the verdict of the sign test. */
function Measures({ before, now, scorers }: Two & { readonly scorers: readonly string[] }) {
  const rows = [PASSED, ...scorers].map((name) => ({
    name,
    ...compareFigures(pairLines(before.report.results, now.report.results, name)),
  }));
  return (
    <div class="stack">
      <Table
        label={t('evals.comparison')}
        items={rows}
        keyOf={({ name }) => name}
        columns={[
          { title: t('evals.measure'), cell: ({ name }) => measureName(name) },
          { title: t('evals.before'), cell: (row) => percent(row.before), isNumber: true },
          { title: t('evals.now'), cell: (row) => percent(row.now), isNumber: true },
          { title: t('evals.change.better'), cell: ({ higher }) => count(higher), isNumber: true },
          { title: t('evals.change.worse'), cell: ({ lower }) => count(lower), isNumber: true },
          { title: t('evals.verdict'), cell: ({ verdict, p }) => <Verdict verdict={verdict} p={p} />, isNarrow: true },
        ]}
      />
      <p class="small muted">{t('evals.method', { lines: count(rows[0]!.lines) })}</p>
    </div>
  );
}

function measureName(name: string): string {
  return name === PASSED ? t('evals.passed') : name;
}

function Verdict({ verdict, p }: { readonly verdict: 'better' | 'worse' | 'within noise'; readonly p: number }) {
  const [style, text] =
    verdict === 'within noise'
      ? (['', t('evals.noise')] as const)
      : ([STYLES[verdict], t(`evals.change.${verdict}`)] as const);
  return (
    <span class={`badge ${style}`} title={`p = ${p.toPrecision(2)}`}>
      {text}
    </span>
  );
}

interface LinesProps {
  readonly pairs: readonly LinePair[];
  readonly measure: string;
  readonly scorers: readonly string[];
}

function isShown({ change }: LinePair, show: string): boolean {
  return show === 'all' || (show === 'changed' ? change !== 'same' : change === show);
}

function Lines({ pairs, measure, scorers }: LinesProps) {
  const { show = 'changed' } = route.value.query;
  const found = pairs.filter((pair) => isShown(pair, show));
  return (
    <EvalLines
      found={found}
      all={pairs.length}
      filters={
        <>
          <SelectFilter
            name="show"
            label={t('evals.changes')}
            value={show}
            options={[['all', t('all')], ...SHOWN.map((value) => [value, t(`evals.change.${value}`)] as const)]}
          />
          {scorers.length > 0 && (
            <SelectFilter
              name="by"
              label={t('evals.measure')}
              value={measure}
              options={[PASSED, ...scorers].map((name) => [name, measureName(name)] as const)}
            />
          )}
        </>
      }
    >
      {(shown) => <PairTable pairs={shown} measure={measure} />}
    </EvalLines>
  );
}

function PairTable({ pairs, measure }: Pick<LinesProps, 'pairs' | 'measure'>) {
  return (
    <Table
      label={t('evals.lines')}
      items={pairs}
      keyOf={({ line }) => line}
      columns={[
        {
          title: t('evals.changes'),
          cell: ({ change }) => <span class={`badge ${STYLES[change]}`}>{t(`evals.change.${change}`)}</span>,
          isNarrow: true,
        },
        {
          title: t('evals.line'),
          cell: ({ line, now, before }) => <LineName line={line} input={(now[0] ?? before[0])?.input} />,
        },
        {
          title: t('evals.before'),
          cell: ({ before, values }) => <Side results={before} value={values?.[0]} measure={measure} />,
          isText: true,
        },
        {
          title: t('evals.now'),
          cell: ({ now, values }) => <Side results={now} value={values?.[1]} measure={measure} />,
          isText: true,
        },
      ]}
    />
  );
}

interface SideProps {
  readonly results: readonly EvalResult[];
  readonly value: number | undefined;
  readonly measure: string;
}

/** The value of a line in one eval, with the reasons of its repetitions and links to their runs. */
function Side({ results, value, measure }: SideProps) {
  return (
    <>
      {value !== undefined && <b>{percent(value)}</b>}
      {results.map((result) => (
        <div key={result.repetition}>
          {result.runId !== '' && <RunLink id={result.runId} />} <span class="muted">{reasonOf(result, measure)}</span>
        </div>
      ))}
    </>
  );
}

function reasonOf({ scores, error, isPassed }: EvalResult, measure: string): string {
  if (error !== undefined) return error;
  if (measure !== PASSED) return scores[measure]?.reason ?? '';
  if (isPassed) return '';
  return Object.entries(scores)
    .filter(([, { score }]) => score < 1)
    .map(([name, { reason }]) => `${name}: ${reason}`)
    .join('; ');
}
