import type { ComponentChildren } from 'preact';
import type { TextKey } from '../i18n';
import type { Answer, Call, Part } from '../conversation';
import { compact, duration, money, scriptIn } from '../format';
import { t } from '../i18n';
import { href } from '../router';
import { may } from '../caller';
import { Decisions } from './decisions';
import { Markdown } from './markdown';
import { Code, Status } from './parts';

/** The answer of a run: its text, reasoning and tool calls, and the decisions for which it waits. */
export function AnswerView({
  answer,
  onDecided,
  children,
}: {
  readonly answer: Answer;
  readonly onDecided: () => void;
  /** Further actions beside the link to the run. */
  readonly children?: ComponentChildren;
}) {
  const { runId, parts, status, requests, error, usage, model } = answer;
  return (
    <div class="answer">
      {parts.map((part, at) =>
        isInScript(part, parts) ? null : <PartView key={at} part={part} calls={callsOfScript(part, parts)} />,
      )}
      {status === 'running' && !parts.some((part) => part.kind === 'text' && !part.isDone) && (
        <p class="muted" role="status">
          {t('chat.thinking')}
        </p>
      )}
      {runId !== null && requests.length > 0 && (
        <Decisions runId={runId} requests={requests} onDecided={onDecided} mayDecide={may('runs:write')} />
      )}
      {error && (
        <div class="notice bad">
          <div>{error.message}</div>
          <code>{error.code}</code>
        </div>
      )}
      <div class="row small muted">
        {status !== 'completed' && <Status value={status} />}
        {model !== undefined && <span>{model}</span>}
        {usage && <span>{t('tokens', { count: compact(usage.total_tokens) })}</span>}
        {usage?.cost !== undefined && <span>{t('cost', { cost: money(usage.cost) })}</span>}
        {runId !== null && <a href={href(['runs', runId])}>{t('chat.openRun')}</a>}
        {children}
      </div>
    </div>
  );
}

/** The calls that the script of a call has made (code mode). */
function callsOfScript(part: Part, parts: readonly Part[]): readonly Call[] {
  if (part.kind !== 'call' || scriptIn(part.call.arguments) === null) return [];
  return parts.flatMap((one) => (one.kind === 'call' && one.call.id.startsWith(`${part.call.id}.`) ? [one.call] : []));
}

function isInScript(part: Part, parts: readonly Part[]): boolean {
  return part.kind === 'call' && parts.some((one) => callsOfScript(one, parts).includes(part.call));
}

function PartView({ part, calls }: { readonly part: Part; readonly calls: readonly Call[] }) {
  switch (part.kind) {
    case 'text':
      return <Markdown text={part.text} />;
    case 'thought':
      return (
        <details class="call">
          <summary class="muted">{t('chat.reasoning')}</summary>
          <div class="call-body">
            <Markdown text={part.text} />
          </div>
        </details>
      );
    case 'call':
      return <CallView call={part.call} calls={calls} />;
    case 'note':
      return <p class="small muted">{t(part.key as TextKey, part.values)}</p>;
  }
}

const BADGES = { running: 'busy', ok: 'good', error: 'bad' } as const;

/** @param calls those of its script */
function CallView({ call, calls = [] }: { readonly call: Call; readonly calls?: readonly Call[] }) {
  const script = scriptIn(call.arguments);
  return (
    <details class="call">
      <summary>
        <span class={`badge ${BADGES[call.state]}`}>{t(`call.${call.state}`)}</span> <strong>{call.tool}</strong>{' '}
        <span class="small muted">
          {call.ms !== undefined && duration(call.ms)} {call.state === 'running' && call.progress}
        </span>
      </summary>
      <div class="call-body">
        <Code value={script ?? call.arguments} label={t(script === null ? 'arguments' : 'script')} />
        {calls.map((one) => (
          <CallView key={one.id} call={one} />
        ))}
        {call.result !== undefined && <Code value={call.result} label={t('result')} />}
        {call.error !== undefined && <Code value={call.error} label={t('error')} />}
        {call.childRunId !== undefined && <a href={href(['runs', call.childRunId])}>{t('run.child')}</a>}
      </div>
    </details>
  );
}
