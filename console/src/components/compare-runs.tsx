import { useState } from 'preact/hooks';
import { t } from '../i18n';
import { go, href } from '../router';
import type { RunPage } from '../types';
import { useLoad } from './load';
import { Dialog, shortId, When } from './parts';

/** Opens a dialog that selects another run for a comparison. */
export function CompareButton({ id, agent }: { readonly id: string; readonly agent: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        {t('run.compare')}
      </button>
      {isOpen && (
        <Dialog title={t('run.compare')} onClose={() => setOpen(false)}>
          <CompareForm id={id} agent={agent} />
        </Dialog>
      )}
    </>
  );
}

/** Opens the comparison with another run of the agent, or with any run by its id. */
function CompareForm({ id, agent }: { readonly id: string; readonly agent: string }) {
  const [other, setOther] = useState('');
  const { value: recent } = useLoad<RunPage>('runs', { agent, limit: 9 });
  const others = recent?.runs.filter(({ run_id }) => run_id !== id) ?? [];
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        go(['runs', id, 'with', other.trim()]);
      }}
    >
      {others.length > 0 && (
        <ul class="nav" aria-label={t('run.recent', { agent })}>
          {others.map(({ run_id, query_preview, created_at }) => (
            <li key={run_id}>
              <a href={href(['runs', id, 'with', run_id])}>
                <span class="line">{query_preview || shortId(run_id)}</span>
                <span class="muted whole">
                  <When at={created_at} />
                </span>
              </a>
            </li>
          ))}
        </ul>
      )}
      <div class="field">
        <label for="other-run">{t('run.otherId')}</label>
        <input id="other-run" required value={other} onInput={({ currentTarget }) => setOther(currentTarget.value)} />
      </div>
      <div>
        <button class="primary" type="submit">
          {t('run.compare')}
        </button>
      </div>
    </form>
  );
}
