import { useState } from 'preact/hooks';
import { post, request } from '../api';
import { Fault } from '../components/load';
import { ConfirmButton, CopyButton, Dialog, When } from '../components/parts';
import { PageList, Table, usePages } from '../components/table';
import { t } from '../i18n';
import type { Key } from '../types';

const ROLES = ['user', 'viewer', 'admin', 'operator'] as const;

/** The API keys of the tenant. */
export function Page() {
  const pages = usePages<Key>('keys', 'keys');
  const [isCreating, setCreating] = useState(false);
  const close = () => {
    setCreating(false);
    pages.reload();
  };
  return (
    <div class="page">
      <div class="head">
        <h1>{t('nav.keys')}</h1>
        <button type="button" class="primary end" onClick={() => setCreating(true)}>
          {t('keys.create')}
        </button>
      </div>
      <PageList pages={pages} empty={t('keys.none')}>
        {(items) => (
          <Table
            label={t('nav.keys')}
            items={items}
            keyOf={({ id }) => id}
            columns={[
              { title: t('tools.name'), cell: ({ name }) => name },
              { title: t('keys.role'), cell: ({ role }) => role },
              { title: t('keys.scopes'), cell: ({ scopes }) => scopes.join(', ') },
              { title: t('sessions.created'), cell: ({ created_at }) => <When at={created_at} /> },
              { title: t('keys.used'), cell: ({ last_used_at: at }) => (at === null ? '' : <When at={at} />) },
              { title: t('keys.expires'), cell: ({ expires_at: at }) => (at === null ? '' : <When at={at} />) },
              { title: t('status'), cell: (key) => <KeyStatus apiKey={key} onRevoked={pages.reload} /> },
            ]}
          />
        )}
      </PageList>
      {isCreating && (
        <Dialog title={t('keys.create')} onClose={close}>
          <NewKey />
        </Dialog>
      )}
    </div>
  );
}

function KeyStatus({ apiKey, onRevoked }: { readonly apiKey: Key; readonly onRevoked: () => void }) {
  if (apiKey.revoked_at !== null) return <span class="badge">{t('keys.revoked')}</span>;
  return (
    <ConfirmButton
      label={t('keys.revoke')}
      title={t('keys.revokeTitle')}
      text={t('keys.revokeText', { name: apiKey.name })}
      action={() => request(`keys/${apiKey.id}`, {}, { method: 'DELETE' }).then(onRevoked)}
    />
  );
}

function NewKey() {
  const [name, setName] = useState('');
  const [role, setRole] = useState<string>('user');
  const [made, setMade] = useState<string>();
  const [error, setError] = useState<Error>();
  const create = async (event: Event) => {
    event.preventDefault();
    try {
      setMade((await post<{ key: string }>('keys', { name, role })).key);
    } catch (caught) {
      setError(caught as Error);
    }
  };
  if (made !== undefined) {
    return (
      <div class="stack">
        <p>{t('keys.once')}</p>
        <pre class="code">{made}</pre>
        <CopyButton text={made} label={t('copy')} />
      </div>
    );
  }
  return (
    <form class="stack" onSubmit={(event) => void create(event)}>
      <div class="field">
        <label for="key-name">{t('tools.name')}</label>
        <input
          id="key-name"
          required
          maxLength={100}
          value={name}
          onInput={({ currentTarget }) => setName(currentTarget.value)}
        />
      </div>
      <div class="field">
        <label for="key-role">{t('keys.role')}</label>
        <select id="key-role" value={role} onChange={({ currentTarget }) => setRole(currentTarget.value)}>
          {ROLES.map((each) => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
        </select>
      </div>
      {error && <Fault error={error} />}
      <div>
        <button class="primary" type="submit">
          {t('keys.create')}
        </button>
      </div>
    </form>
  );
}
