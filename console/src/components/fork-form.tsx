import { useState } from 'preact/hooks';
import { post } from '../api';
import { t } from '../i18n';
import { go } from '../router';
import type { JournalStep, RunJournal } from '../types';
import { ActionButton } from './parts';

/** Starts a new run from a step of a run, with changes. */
export function ForkForm({ journal, step }: { readonly journal: RunJournal; readonly step: JournalStep }) {
  const { query } = (journal.input ?? {}) as { query?: string };
  const { instructions, model } = (journal.definition ?? {}) as { instructions?: string; model?: { name?: string } };
  const isStart = step.name === 'model:1';
  const isTool = step.kind === 'tool';
  const given = (step.result as { result?: unknown } | null)?.result;
  const old = {
    message: query ?? '',
    toolResult: typeof given === 'string' ? given : JSON.stringify(given ?? ''),
    model: model?.name ?? '',
    instructions: instructions ?? '',
  };
  const [edit, setEdit] = useState(old);
  const set = (name: keyof typeof old) => (value: string) => setEdit({ ...edit, [name]: value });
  const isChanged = (name: keyof typeof old) => edit[name] !== old[name];
  const fork = async () => {
    const changes = {
      ...(isStart && isChanged('message') && { message: edit.message }),
      ...(isTool && isChanged('toolResult') && { toolResult: edit.toolResult }),
      ...(isChanged('model') && { model: { name: edit.model } }),
      ...(isChanged('instructions') && { agent: { instructions: edit.instructions } }),
    };
    const body = { fromStep: step.name, ...(Object.keys(changes).length > 0 && { edit: changes }) };
    const { run_id } = await post<{ run_id: string }>(`runs/${journal.run_id}/fork`, body);
    go(['runs', run_id, 'with', journal.run_id]);
  };
  return (
    <div class="stack">
      <p class="muted">{t('fork.text', { step: step.name })}</p>
      {isStart && <Area label={t('fork.message')} value={edit.message} onInput={set('message')} />}
      {isTool && <Area label={t('fork.toolResult')} value={edit.toolResult} onInput={set('toolResult')} />}
      <div class="field">
        <label for="fork-model">{t('model')}</label>
        <input id="fork-model" value={edit.model} onInput={({ currentTarget }) => set('model')(currentTarget.value)} />
      </div>
      {instructions !== undefined && (
        <Area label={t('fork.instructions')} value={edit.instructions} onInput={set('instructions')} />
      )}
      <div class="row">
        <ActionButton class="primary" action={fork}>
          {t('fork.submit')}
        </ActionButton>
      </div>
    </div>
  );
}

function Area({
  label,
  value,
  onInput,
}: {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
}) {
  return (
    <label class="field">
      <span class="label">{label}</span>
      <textarea rows={4} value={value} onInput={({ currentTarget }) => onInput(currentTarget.value)} />
    </label>
  );
}
