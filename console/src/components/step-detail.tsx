import { useState } from 'preact/hooks';
import { clock, compact, duration, money, scriptIn } from '../format';
import { t } from '../i18n';
import { href } from '../router';
import type { Bar } from '../run-timing';
import type { JournalEvent, RunJournal, Usage } from '../types';
import { Show, useLoad } from './load';
import { Code, Facts } from './parts';

/** One step: times, usage, decisions, arguments, the result. */
export function StepDetail({ bar, journal }: { readonly bar: Bar; readonly journal: RunJournal }) {
  const { step, start, end, firstToken } = bar;
  const related = eventsOf(step.name, journal.events);
  const usage = related.find(({ type }) => type === 'usage')?.data as Usage | undefined;
  const child = related.find(({ data }) => data.child_run_id !== undefined)?.data.child_run_id;
  return (
    <section class="stack" aria-label={step.name}>
      <h3>
        {step.subject || step.kind} <code>{step.name}</code>
      </h3>
      <Facts
        items={[
          [t('step.start'), clock(start)],
          [t('duration'), duration(end - start)],
          [t('step.firstToken'), firstToken === null ? undefined : duration(firstToken - start)],
          [t('step.attempts'), step.attempts ?? undefined],
          [t('step.epoch'), step.epoch === 0 ? t('step.copied') : step.epoch],
          [t('usage.promptTokens'), usage && compact(usage.prompt_tokens)],
          [t('usage.cachedTokens'), usage?.cached_tokens === undefined ? undefined : compact(usage.cached_tokens)],
          [t('usage.completionTokens'), usage && compact(usage.completion_tokens)],
          [t('usage.cost'), usage?.cost === undefined ? undefined : money(usage.cost)],
          [t('run.child'), child && <a href={href(['runs', child])}>{child.slice(-8)}</a>],
        ]}
      />
      {related
        .filter(({ type }) => type === 'policy.decided' || type === 'model.switched' || type === 'context.compacted')
        .map(({ n, type, data }) => (
          <Code key={n} value={data} label={type} />
        ))}
      {step.kind === 'model' && <RequestView key={step.name} runId={journal.run_id} step={step.name} />}
      {step.kind === 'tool' && <Arguments value={argumentsOf(related)} />}
      {journal.steps
        .filter(({ kind, name }) => kind === 'tool' && name.startsWith(`${step.name}.`))
        .map(({ name, subject, result }) => (
          <details key={name} class="call">
            <summary>
              <strong>{subject}</strong> <code>{name}</code>
            </summary>
            <div class="call-body">
              <Arguments value={argumentsOf(eventsOf(name, journal.events))} />
              <Code value={result} label={t('result')} />
            </div>
          </details>
        ))}
      <Code value={step.result} label={t('result')} />
    </section>
  );
}

function Arguments({ value }: { readonly value: unknown }) {
  const script = scriptIn(value);
  return <Code value={script ?? value} label={t(script === null ? 'arguments' : 'script')} />;
}

interface StepRequest {
  readonly body: unknown;
  readonly is_same: boolean | null;
}

/** The request to the provider, rebuilt on demand. */
function RequestView({ runId, step }: { readonly runId: string; readonly step: string }) {
  const [isOpen, setOpen] = useState(false);
  const loaded = useLoad<StepRequest>(isOpen ? `runs/${runId}/steps/${step}/request` : null);
  return (
    <details class="call" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{t('step.request')}</summary>
      {isOpen && (
        <Show of={loaded}>
          {({ body, is_same }) => (
            <div class="call-body">
              {is_same !== true && (
                <p class={`notice ${is_same === false ? 'warn' : ''}`}>
                  {t(is_same === false ? 'step.requestDiffers' : 'step.requestUnknown')}
                </p>
              )}
              {body === null ? (
                <p class="muted">{t('step.noRequest')}</p>
              ) : (
                <Code value={body} label={t('step.request')} />
              )}
            </div>
          )}
        </Show>
      )}
    </details>
  );
}

function argumentsOf(related: readonly JournalEvent[]): unknown {
  return related.find(({ type }) => type === 'tool.started')?.data.arguments ?? '';
}

/** The events of a step: of its iteration and, for a tool, of its call. */
function eventsOf(name: string, events: readonly JournalEvent[]): readonly JournalEvent[] {
  const [kind, iteration, position] = name.split(':');
  const ofIteration = events.filter(({ data }) => String(data.iteration) === iteration);
  if (kind !== 'tool') return ofIteration.filter(({ type }) => !type.startsWith('tool.'));
  const starts = ofIteration.find(({ type }) => type === 'message.completed')?.data['tool_calls'] as
    readonly { readonly id: string }[] | undefined;
  const [at, inner] = (position ?? '').split('.');
  const outer = starts?.[Number(at) - 1]?.id;
  const call = inner === undefined ? outer : `${outer}.${inner}`;
  return ofIteration.filter(({ data }) => data.call_id === call && call !== undefined);
}
