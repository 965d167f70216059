import { useEffect, useState } from 'preact/hooks';
import { post } from '../api';
import { onChanges } from '../changes';
import { CompareButton } from '../components/compare-runs';
import { DatasetButton } from '../components/dataset';
import { Decisions } from '../components/decisions';
import { ForkForm } from '../components/fork-form';
import { Fault, Show, useLoad } from '../components/load';
import { Markdown } from '../components/markdown';
import { isRatable, Rating } from '../components/rating';
import { ActionButton, Clamp, Code, Dialog, Facts, RunLink, shortId, Status, When } from '../components/parts';
import { StepDetail } from '../components/step-detail';
import { VirtualList } from '../components/virtual-list';
import { Waterfall } from '../components/waterfall';
import { followRun } from '../events';
import { clock, compact, duration, money } from '../format';
import { t } from '../i18n';
import { href, route } from '../router';
import { toBars, toMarkers, toPhases } from '../run-timing';
import { caller, may } from '../caller';
import { useJournal } from '../run-journal';
import type { Feedback, JournalEvent, ListedRun, RunAnswer, RunJournal } from '../types';

const TABS = ['steps', 'events', 'json'] as const;
const OPEN: ReadonlySet<string> = new Set(['queued', 'running', 'waiting']);
const EVENT_ROW_PX = 34;

/** A run: its summary, then its steps on the axis of time, its events, and its journal as JSON. */
export function RunView({ id, isNarrow = false }: { readonly id: string; readonly isNarrow?: boolean }) {
  const answer = useLoad<RunAnswer>(`runs/${id}`);
  const journal = useJournal(id);
  const reload = () => {
    answer.reload();
    journal.reload();
  };
  const status = answer.value?.status;
  const onChange = (runs: readonly ListedRun[]) => {
    if (runs.length === 0 || runs.some(({ run_id, parent_run_id }) => run_id === id || parent_run_id === id)) reload();
  };
  useEffect(() => onChanges(onChange), [id]);
  useEffect(() => {
    if (status !== 'running' || isNarrow) return undefined;
    const controller = new AbortController();
    // A step is recorded just before its last event.
    const onEvent = ({ type }: { type: string }) => /completed|usage|waiting|failed/.test(type) && journal.reload();
    followRun(id, { signal: controller.signal, onEvent }).catch(() => undefined);
    return () => controller.abort();
  }, [id, status]);
  return (
    <div class="page">
      <Show of={answer} title={`${t('run')} ${shortId(id)}`}>
        {(value) => <Summary answer={value} journal={journal.value} onChange={reload} />}
      </Show>
      {journal.error && answer.value && <Fault error={journal.error} retry={journal.reload} />}
      {answer.value && !journal.value && !journal.error && <p class="empty">{t('loading')}</p>}
      {journal.value && <Journal journal={journal.value} isNarrow={isNarrow} />}
    </div>
  );
}

interface SummaryProps {
  readonly answer: RunAnswer;
  readonly journal: RunJournal | undefined;
  readonly onChange: () => void;
}

function Summary({ answer, journal, onChange }: SummaryProps) {
  const { run_id, status, agent, error, result, waiting } = answer;
  return (
    <div class="stack">
      <div class="head">
        <h1>
          {t('run')} <span class="mono">{shortId(run_id)}</span>
        </h1>
        <Status value={status} />
        <div class="end row">
          {status !== 'completed' && OPEN.has(status) && may('runs:write') && (
            <ActionButton class="danger" action={() => post(`runs/${run_id}/cancel`).then(onChange)}>
              {t('run.cancel')}
            </ActionButton>
          )}
          {status === 'completed' && journal && (
            <DatasetButton id={run_id} query={{ agent, from: journal.created_at, to: journal.created_at + 1 }} />
          )}
          <CompareButton id={run_id} agent={agent} />
        </div>
      </div>
      <SummaryFacts answer={answer} journal={journal} agent={agent} />
      {error && (
        <div class="notice bad">
          <div>{error.message}</div>
          <code>{error.code}</code>
        </div>
      )}
      {waiting && waiting.length > 0 && (
        <Decisions runId={run_id} requests={waiting} onDecided={onChange} mayDecide={may('runs:write')} />
      )}
      <Question journal={journal} />
      {result !== '' && (
        <div class="card">
          <Clamp>
            <Markdown text={result} />
          </Clamp>
        </div>
      )}
      {isRatable(status) && <RunFeedback runId={run_id} />}
    </div>
  );
}

/** The caller's rating, and the feedback of others. */
function RunFeedback({ runId }: { readonly runId: string }) {
  const feedback = useLoad<{ readonly feedback: readonly Feedback[] }>(`runs/${runId}/feedback`);
  const all = feedback.value?.feedback;
  if (!all) return null;
  const texts = all.filter(({ comment, correction }) => comment !== null || correction !== null);
  return (
    <section class="stack" aria-label={t('rating.title')}>
      <div class="row">
        <Rating runId={runId} given={all.find((one) => one.given_by === caller.value?.id)} onGiven={feedback.reload} />
      </div>
      {texts.map((one) => (
        <div key={one.given_by} class="card stack">
          <span class="label">{one.given_by}</span>
          {one.comment !== null && <p>{one.comment}</p>}
          {one.correction !== null && <Code value={one.correction} label={t('rating.correction')} />}
        </div>
      ))}
    </section>
  );
}

function Question({ journal }: { readonly journal: RunJournal | undefined }) {
  const { query } = (journal?.input ?? {}) as { query?: unknown };
  return typeof query === 'string' ? (
    <div class="question">
      <Clamp>{query}</Clamp>
    </div>
  ) : null;
}

function SummaryFacts({ answer, journal, agent }: Omit<SummaryProps, 'onChange'> & { readonly agent: string }) {
  const { usage, model, session_id, duration_ms, finish_reason, parent_run_id, child_run_ids, forked_from } = answer;
  const phases = journal && toPhases(toBars(journal), journal);
  return (
    <Facts
      items={[
        answer.nodes ? [t('workflow'), <WorkflowLink agent={agent} runId={answer.run_id} />] : [t('agent'), agent],
        [t('model'), model],
        [t('time'), journal && <When at={journal.created_at} />],
        [t('duration'), duration(duration_ms)],
        [t('phase.queue'), phases && phases.queue > 0 ? duration(phases.queue) : undefined],
        [t('phase.model'), phases && duration(phases.model)],
        [t('phase.tool'), phases && phases.tool > 0 ? duration(phases.tool) : undefined],
        [t('phase.waiting'), phases && phases.waiting > 0 ? duration(phases.waiting) : undefined],
        [t('usage.tokens'), compact(usage.total_tokens)],
        [t('usage.cost'), usage.cost === undefined ? undefined : money(usage.cost)],
        [t('run.finishReason'), finish_reason],
        [t('session'), session_id && <a href={href(['chat', session_id])}>{session_id.slice(-12)}</a>],
        [t('run.parent'), parent_run_id && <RunLink id={parent_run_id} />],
        [
          t('run.children'),
          child_run_ids?.map((id) => (
            <div key={id}>
              <RunLink id={id} />
            </div>
          )),
        ],
        [t('run.forkedFrom'), forked_from && <RunLink id={forked_from} />],
        [t('run.queuedReason'), answer.queued_reason],
      ]}
    />
  );
}

/** @param agent with the prefix of workflows */
function WorkflowLink({ agent, runId }: { readonly agent: string; readonly runId: string }) {
  const name = agent.replace(/^workflow:/, '');
  return <a href={href(['workflows', name], { run: runId })}>{name}</a>;
}

function Journal({ journal, isNarrow }: { readonly journal: RunJournal; readonly isNarrow: boolean }) {
  const [chosen, setChosen] = useState<(typeof TABS)[number]>('steps');
  const asked = route.value.query['tab'] as (typeof TABS)[number] | undefined;
  const tab = isNarrow || !asked || !TABS.includes(asked) ? chosen : asked;
  return (
    <div class="stack">
      <div class="row" role="group" aria-label={t('run.views')}>
        {TABS.map((each) => (
          <button key={each} type="button" aria-pressed={each === tab} onClick={() => setChosen(each)}>
            {t(`run.tab.${each}`)}
          </button>
        ))}
      </div>
      {tab === 'steps' && <Steps journal={journal} />}
      {tab === 'events' && <Events events={journal.events} />}
      {tab === 'json' && <Code value={journal} label={t('run.tab.json')} />}
    </div>
  );
}

function Steps({ journal }: { readonly journal: RunJournal }) {
  const [selected, setSelected] = useState<string>();
  const [isForking, setForking] = useState(false);
  const bars = toBars(journal);
  const markers = toMarkers(journal.events);
  const bar = bars.find(({ step }) => step.name === selected);
  const to = Math.max(journal.finished_at ?? 0, ...bars.slice(-50).map(({ end }) => end), journal.created_at + 1);
  if (bars.length === 0) return <p class="empty">{t('run.noSteps')}</p>;
  return (
    <div class="stack">
      <Waterfall
        bars={bars}
        markers={markers}
        from={journal.created_at}
        to={to}
        queueMs={toPhases(bars, journal).queue}
        selected={selected}
        onSelect={(name) => setSelected(name === selected ? undefined : name)}
      />
      {markers.length > 0 && (
        <p class="small muted">
          {markers.map(({ at, kind, label }) => `${clock(at)} ${t(`marker.${kind}`, { label })}`).join(' · ')}
        </p>
      )}
      {bar && (
        <div class="card stack">
          <StepDetail key={bar.step.name} bar={bar} journal={journal} />
          {may('runs:write') && (
            <div>
              <button type="button" onClick={() => setForking(true)}>
                {t('fork.title')}
              </button>
            </div>
          )}
        </div>
      )}
      {bar && isForking && (
        <Dialog title={t('fork.title')} onClose={() => setForking(false)}>
          <ForkForm journal={journal} step={bar.step} />
        </Dialog>
      )}
    </div>
  );
}

function Events({ events }: { readonly events: readonly JournalEvent[] }) {
  const [selected, setSelected] = useState<number>();
  const event = events.find(({ n }) => n === selected);
  return (
    <div class="stack">
      <VirtualList items={events} rowHeight={EVENT_ROW_PX} label={t('run.tab.events')} class="lanes">
        {({ n, type, data, created_at }) => (
          <button
            type="button"
            class="lane"
            data-row
            aria-pressed={n === selected}
            style={{ height: `${EVENT_ROW_PX}px` }}
            onClick={() => setSelected(n)}
          >
            <span class="mono">{type}</span>
            <span class="small muted">{JSON.stringify(data).slice(0, 200)}</span>
            <span class="small number">{clock(created_at)}</span>
          </button>
        )}
      </VirtualList>
      {event && <Code value={event.data} label={`${event.n} ${event.type}`} />}
    </div>
  );
}
