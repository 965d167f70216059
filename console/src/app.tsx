import { useEffect, useRef, useState } from 'preact/hooks';
import type { ComponentType } from 'preact';
import { Fault } from './components/load';
import { ActionButton } from './components/parts';
import { t, type TextKey } from './i18n';
import { languagePreference, themePreference, type Theme } from './preferences';
import { href, route } from './router';
import { caller, hasLogin, may } from './caller';
import { logIn, logOut, readCaller, startFault } from './session';
import { pendingDecisions, watchChanges } from './changes';

interface Page {
  readonly title: TextKey;
  /** Without one of these scopes the page is not listed. */
  readonly scopes: readonly string[];
  /** The page follows its path itself. Another page is made anew for each path. */
  readonly isKept?: boolean;
  /** Loaded when the page is opened; it gets the segments of the path after its name. */
  readonly load: () => Promise<{ readonly Page: ComponentType<{ readonly path: readonly string[] }> }>;
}

/** The pages by the first segment of their path, in the order of the navigation. */
const PAGES: Readonly<Record<string, Page>> = {
  home: { title: 'nav.home', scopes: ['runs:read'], load: () => import('./pages/home') },
  chat: { title: 'nav.chat', scopes: ['chat'], isKept: true, load: () => import('./pages/chat') },
  runs: { title: 'nav.runs', scopes: ['runs:read'], load: () => import('./pages/runs') },
  approvals: { title: 'nav.approvals', scopes: ['runs:read'], load: () => import('./pages/approvals') },
  sessions: { title: 'nav.sessions', scopes: ['sessions:read'], load: () => import('./pages/sessions') },
  agents: { title: 'nav.agents', scopes: ['tools:read'], load: () => import('./pages/agents') },
  tools: { title: 'nav.tools', scopes: ['tools:read'], load: () => import('./pages/tools') },
  mcp: { title: 'nav.mcp', scopes: ['tools:read', 'operate'], load: () => import('./pages/mcp') },
  workflows: { title: 'nav.workflows', scopes: ['tools:read'], load: () => import('./pages/workflows') },
  evals: { title: 'nav.evals', scopes: ['runs:read'], load: () => import('./pages/evals') },
  usage: { title: 'nav.usage', scopes: ['usage:read'], load: () => import('./pages/usage') },
  keys: { title: 'nav.keys', scopes: ['keys'], load: () => import('./pages/keys') },
  'access-log': { title: 'nav.accessLog', scopes: ['audit'], load: () => import('./pages/access-log') },
  about: { title: 'nav.about', scopes: ['chat', 'runs:read', 'operate'], load: () => import('./pages/about') },
};

export function App() {
  useEffect(() => void readCaller(), []);
  if (startFault.value !== null) {
    return (
      <main class="page">
        <Fault error={new Error(startFault.value)} retry={() => void readCaller()} />
      </main>
    );
  }
  if (caller.value === undefined) return <p class="empty">{t('loading')}</p>;
  return caller.value === null ? <Login /> : <Shell />;
}

function Login() {
  const [key, setKey] = useState('');
  const [error, setError] = useState<Error>();
  const submit = async (event: Event) => {
    event.preventDefault();
    try {
      await logIn(key.trim());
    } catch (caught) {
      setError(caught as Error);
    }
  };
  return (
    <main class="page">
      <form class="card stack login" onSubmit={(event) => void submit(event)}>
        <h1>{t('login.title')}</h1>
        <p class="muted">{t('login.text')}</p>
        <div class="field">
          <label for="key">{t('login.key')}</label>
          <input
            id="key"
            type="password"
            autocomplete="current-password"
            required
            value={key}
            onInput={({ currentTarget }) => setKey(currentTarget.value)}
          />
        </div>
        {error && <Fault error={error} />}
        <div>
          <button class="primary" type="submit">
            {t('login.submit')}
          </button>
        </div>
        <Preferences />
      </form>
    </main>
  );
}

function Shell() {
  useEffect(() => (may('runs:read') ? watchChanges() : undefined), []);
  const [isOpen, setOpen] = useState(false);
  const { path } = route.value;
  const [name = 'home', ...rest] = path;
  useEffect(() => setOpen(false), [path]);
  return (
    <div class="shell">
      <a class="skip hidden" href={href(path)} onClick={skip}>
        {t('skip')}
      </a>
      <header class={`side ${isOpen ? 'open' : ''}`}>
        <a class="brand" href="#/">
          <img src="../favicon.svg" width="28" height="28" alt="" />
          Jackdaw
        </a>
        <button type="button" class="menu-button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {t('menu')}
        </button>
        <nav aria-label={t('navigation')}>
          <ul class="nav">
            {Object.entries(PAGES)
              .filter(([, { scopes }]) => scopes.some(may))
              .map(([key, { title }]) => (
                <li key={key}>
                  <a href={href([key])} aria-current={key === name ? 'page' : undefined}>
                    {t(title)}
                    {key === 'approvals' && pendingDecisions.value > 0 && (
                      <span class="badge waiting">{pendingDecisions.value}</span>
                    )}
                  </a>
                </li>
              ))}
          </ul>
        </nav>
        <div class="side-end">
          <Preferences />
          <div class="wrap">
            {caller.value?.id} · {caller.value?.roles.join(', ')}
          </div>
          {hasLogin.value && <ActionButton action={logOut}>{t('logout')}</ActionButton>}
        </div>
      </header>
      <Content name={name} rest={rest} />
    </div>
  );
}

/** A link to the fragment would open another page. */
function skip(event: Event): void {
  event.preventDefault();
  document.querySelector('main')?.focus();
}

function Content({ name, rest }: { readonly name: string; readonly rest: readonly string[] }) {
  const [loaded, setLoaded] = useState<{ name: string; Page: ComponentType<{ path: readonly string[] }> }>();
  const [error, setError] = useState<Error>();
  const main = useRef<HTMLElement>(null);
  const page = PAGES[name];
  useEffect(() => {
    setError(undefined);
    let isCurrent = true;
    page?.load().then(
      ({ Page: found }) => isCurrent && setLoaded({ name, Page: found }),
      (caught: Error) => isCurrent && setError(caught),
    );
    return () => {
      isCurrent = false;
    };
  }, [name]);
  useEffect(() => {
    document.title = page ? `${t(page.title)} · Jackdaw` : 'Jackdaw';
  }, [name, languagePreference.value]);
  return (
    <main ref={main} tabIndex={-1}>
      {!page && <p class="empty">{t('noPage')}</p>}
      {error && <Fault error={error} retry={() => location.reload()} />}
      {loaded?.name === name && <loaded.Page path={rest} key={page?.isKept ? name : rest.join('/')} />}
    </main>
  );
}

const THEMES: readonly Theme[] = ['auto', 'light', 'dark'];

function Preferences() {
  return (
    <div class="row">
      <select
        aria-label={t('language')}
        value={languagePreference.value}
        onChange={({ currentTarget }) => (languagePreference.value = currentTarget.value === 'zh' ? 'zh' : 'en')}
      >
        <option value="en" lang="en">
          English
        </option>
        <option value="zh" lang="zh-CN">
          中文
        </option>
      </select>
      <select
        aria-label={t('theme')}
        value={themePreference.value}
        onChange={({ currentTarget }) => (themePreference.value = currentTarget.value as Theme)}
      >
        {THEMES.map((theme) => (
          <option key={theme} value={theme}>
            {t(`theme.${theme}` as TextKey)}
          </option>
        ))}
      </select>
    </div>
  );
}
