import { useState } from 'preact/hooks';
import { post } from '../api';
import { dateTime } from '../format';
import { t, tValue } from '../i18n';
import { href } from '../router';
import type { JsonSchema, Tool, WaitingRequest } from '../types';
import { useLoad } from './load';
import { ActionButton, Code } from './parts';
import { JsonField, SchemaForm } from './schema-form';

interface DecisionProps {
  readonly runId: string;
  readonly request: WaitingRequest;
  readonly onDecided: () => void;
}

/** The open decisions of a run, with the controls of a person who may decide. */
export function Decisions({
  runId,
  requests,
  onDecided,
  mayDecide,
}: Omit<DecisionProps, 'request'> & { readonly requests: readonly WaitingRequest[]; readonly mayDecide: boolean }) {
  return (
    <div class="stack">
      {requests.map((request) => (
        <section key={request.id} class="card stack" aria-label={titleOf(request)}>
          <h3>{titleOf(request)}</h3>
          <About request={request} />
          {mayDecide && <Controls runId={runId} request={request} onDecided={onDecided} />}
        </section>
      ))}
    </div>
  );
}

export function titleOf({ kind, tool }: WaitingRequest): string {
  return t(`waiting.${kind}`, { tool });
}

/** What is asked, why, and by when. */
export function About({ request }: { readonly request: WaitingRequest }) {
  const { reason, facts, question, by_another, by_roles, expires_at, child_run_id } = request;
  return (
    <>
      {question !== undefined && <p>{question}</p>}
      {reason !== undefined && <p class="muted">{reason}</p>}
      {facts && facts.length > 0 && (
        <ul class="small">
          {facts.map(({ fact, step, tool, origin }) => (
            <li key={`${fact} ${step}`}>
              {tValue('fact', fact)}: {[step, tool, origin].filter(Boolean).join(', ')}
            </li>
          ))}
        </ul>
      )}
      {request.arguments !== '' && <Code value={request.arguments} label={t('arguments')} />}
      <p class="small muted">
        {[
          by_another && t('waiting.byAnother'),
          by_roles && t('waiting.byRoles', { roles: by_roles.join(', ') }),
          expires_at !== null && t('waiting.expires', { time: dateTime(expires_at) }),
        ]
          .filter(Boolean)
          .join(' · ')}
      </p>
      {child_run_id !== undefined && <a href={href(['runs', child_run_id])}>{t('waiting.openChild')}</a>}
    </>
  );
}

function Controls(props: DecisionProps) {
  switch (props.request.kind) {
    case 'approval':
      return <Approval {...props} />;
    case 'input':
      return <Question {...props} />;
    case 'outcome_unknown':
      return <Settlement {...props} />;
    case 'restored':
      return (
        <div class="row">
          <ActionButton class="primary" action={() => post(`runs/${props.runId}/release`).then(props.onDecided)}>
            {t('decide.release')}
          </ActionButton>
        </div>
      );
    case 'child':
      return null;
  }
}

function Approval({ runId, request, onDecided }: DecisionProps) {
  const [mode, setMode] = useState<'choose' | 'edit' | 'deny'>('choose');
  const [edited, setEdited] = useState<unknown>();
  const [reason, setReason] = useState('');
  const [scope, setScope] = useState('call');
  const { value: tool } = useLoad<Tool>(mode === 'edit' ? `tools/${encodeURIComponent(request.tool)}` : null);
  const callId = request.call_id;
  const approve = () =>
    post(`runs/${runId}/approve`, {
      callId,
      ...(mode === 'edit' ? { arguments: edited } : request.covers && { scope }),
    }).then(onDecided);
  const deny = () => post(`runs/${runId}/deny`, { callId, ...(reason.trim() !== '' && { reason }) }).then(onDecided);
  return (
    <>
      {mode === 'edit' && (
        <SchemaForm
          key={tool ? 'form' : 'json'}
          schema={tool?.input_schema ?? {}}
          initial={parsed(request.arguments)}
          label={t('decide.editedArguments')}
          onChange={setEdited}
        />
      )}
      {mode === 'deny' && (
        <div class="field">
          <label for={`reason-${callId}`}>{t('decide.reason')}</label>
          <textarea
            id={`reason-${callId}`}
            rows={2}
            value={reason}
            onInput={({ currentTarget }) => setReason(currentTarget.value)}
          />
        </div>
      )}
      {mode === 'choose' && request.covers && (
        <div class="field">
          <label for={`scope-${callId}`}>{t('decide.scope')}</label>
          <select id={`scope-${callId}`} value={scope} onChange={({ currentTarget }) => setScope(currentTarget.value)}>
            {(['call', 'run', 'session'] as const).map((each) => (
              <option key={each} value={each}>
                {t(`decide.scope.${each}`)}
              </option>
            ))}
          </select>
        </div>
      )}
      <div class="row">
        {mode !== 'deny' && (
          <ActionButton class="primary" disabled={mode === 'edit' && edited === undefined} action={approve}>
            {t(mode === 'edit' ? 'decide.approveEdited' : 'decide.approve')}
          </ActionButton>
        )}
        {mode === 'choose' && (
          <button type="button" onClick={() => setMode('edit')}>
            {t('decide.edit')}
          </button>
        )}
        {mode === 'deny' ? (
          <ActionButton class="danger" action={deny}>
            {t('decide.deny')}
          </ActionButton>
        ) : (
          <button type="button" class="danger" onClick={() => setMode('deny')}>
            {t('decide.deny')}
          </button>
        )}
        {mode !== 'choose' && (
          <button type="button" onClick={() => setMode('choose')}>
            {t('cancel')}
          </button>
        )}
      </div>
    </>
  );
}

function Question({ runId, request, onDecided }: DecisionProps) {
  const [value, setValue] = useState<unknown>();
  const callId = request.call_id;
  const { schema }: { readonly schema?: JsonSchema } = request;
  const isText = schema === undefined || schema.type === 'string';
  return (
    <>
      {isText && !schema?.enum ? (
        <div class="field">
          <label for={`answer-${callId}`}>{t('decide.answer')}</label>
          <textarea
            id={`answer-${callId}`}
            rows={3}
            value={typeof value === 'string' ? value : ''}
            onInput={({ currentTarget }) => setValue(currentTarget.value)}
          />
        </div>
      ) : (
        <SchemaForm schema={wrapped(schema)} initial={undefined} label={t('decide.answer')} onChange={setValue} />
      )}
      <div class="row">
        <ActionButton
          class="primary"
          disabled={value === undefined}
          action={() => post(`runs/${runId}/input`, { callId, value: unwrapped(schema, value) }).then(onDecided)}
        >
          {t('decide.send')}
        </ActionButton>
        <ActionButton class="danger" action={() => post(`runs/${runId}/deny`, { callId }).then(onDecided)}>
          {t('decide.refuse')}
        </ActionButton>
      </div>
    </>
  );
}

/** A single value becomes a form with one field. */
function wrapped(schema: JsonSchema = {}): JsonSchema {
  return isSingle(schema) ? { properties: { value: { title: t('value'), ...schema } }, required: ['value'] } : schema;
}

function unwrapped(schema: JsonSchema | undefined, value: unknown): unknown {
  return schema && isSingle(schema) ? (value as { value?: unknown })?.value : value;
}

function isSingle({ type, enum: values }: JsonSchema): boolean {
  return values !== undefined || ['boolean', 'number', 'integer'].includes(String(type));
}

function Settlement({ runId, request, onDecided }: DecisionProps) {
  const [outcome, setOutcome] = useState<'retry' | 'succeeded' | 'failed'>('succeeded');
  const [result, setResult] = useState<unknown>(null);
  const [error, setError] = useState('');
  const callId = request.call_id;
  const body = {
    callId,
    outcome,
    ...(outcome === 'succeeded' && { result: result ?? null }),
    ...(outcome === 'failed' && error !== '' && { error }),
  };
  return (
    <>
      <div class="field">
        <label for={`outcome-${callId}`}>{t('decide.outcome')}</label>
        <select
          id={`outcome-${callId}`}
          value={outcome}
          onChange={({ currentTarget }) => setOutcome(currentTarget.value as typeof outcome)}
        >
          {(['succeeded', 'failed', 'retry'] as const).map((each) => (
            <option key={each} value={each}>
              {t(`decide.outcome.${each}`)}
            </option>
          ))}
        </select>
      </div>
      {outcome === 'succeeded' && <JsonField value={undefined} label={t('decide.result')} onChange={setResult} />}
      {outcome === 'failed' && (
        <div class="field">
          <label for={`error-${callId}`}>{t('decide.error')}</label>
          <textarea
            id={`error-${callId}`}
            rows={2}
            value={error}
            onInput={({ currentTarget }) => setError(currentTarget.value)}
          />
        </div>
      )}
      <div class="row">
        <ActionButton class="primary" action={() => post(`runs/${runId}/settle`, body).then(onDecided)}>
          {t('decide.settle')}
        </ActionButton>
      </div>
    </>
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
