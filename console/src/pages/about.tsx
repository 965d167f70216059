import { caller } from '../caller';
import { Show, useLoad } from '../components/load';
import { Code, Facts } from '../components/parts';
import { t } from '../i18n';

/** The server, the caller, and links. */
export function Page() {
  const health = useLoad<object>('agent/health');
  const { id, tenant, roles, scopes } = caller.value!;
  return (
    <div class="page">
      <h1>{t('nav.about')}</h1>
      <div class="card stack">
        <p>{t('about.text')}</p>
        <div class="row">
          <a href="../docs">{t('about.routes')}</a>
          <a href="../docs/json">{t('about.document')}</a>
          <a href="./licences.txt">{t('about.licences')}</a>
        </div>
      </div>
      <Facts
        items={[
          [t('about.caller'), id],
          [t('about.tenant'), tenant],
          [t('keys.role'), roles.join(', ')],
        ]}
      />
      <div class="row">
        <span class="label">{t('keys.scopes')}</span>
        {scopes.map((scope) => (
          <span key={scope} class="badge">
            {scope}
          </span>
        ))}
      </div>
      <Show of={health}>{(value) => <Code value={value} label={t('home.health')} />}</Show>
    </div>
  );
}
