import { useEffect, useRef, useState } from 'preact/hooks';
import { apiUrl, request } from '../api';
import { hasLogin, may } from '../caller';
import { AnswerView } from '../components/answer';
import { isRatable, Rating } from '../components/rating';
import { Images } from '../components/images';
import { Composer } from '../components/composer';
import { Fault, useLoad } from '../components/load';
import { ActionButton, CopyButton, When } from '../components/parts';
import type { Exchange } from '../conversation';
import { t } from '../i18n';
import { go, href, route } from '../router';
import { askAgain, bodyOf, type Choice, Talk } from '../talk';
import type { Session } from '../types';

/** A chat in a session: `#/chat`, `#/chat/<session>`. */
export function Page({ path: [sessionId] }: { readonly path: readonly string[] }) {
  const [choice, setChoice] = useState<Choice>({ agent: route.value.query['agent'] ?? '', model: '', effort: '' });
  const talk = useTalk(sessionId);
  useEffect(() => {
    isShown.current = false;
    void talk.load();
    return () => talk.close();
  }, [talk]);
  const exchanges = talk.exchanges.value;
  const end = useRef<HTMLDivElement>(null);
  const isShown = useRef(false);
  const length = exchanges.reduce((sum, { answer }) => sum + answer.parts.length + 1, 0);
  useEffect(() => {
    // A conversation opens at its end; later the page follows the answer while the reader is there.
    const isAtEnd = document.documentElement.scrollHeight - scrollY - innerHeight < 400;
    if (isAtEnd || !isShown.current) end.current?.scrollIntoView({ block: 'end' });
    isShown.current = length > 0;
  }, [length]);
  return (
    <div class="page">
      <div class="head">
        <h1>{t('nav.chat')}</h1>
        <div class="end row">
          {may('sessions:read') && <SessionChoice current={sessionId} />}
          <button type="button" onClick={() => go(['chat'])}>
            {t('chat.new')}
          </button>
        </div>
      </div>
      {talk.error.value && <Fault error={talk.error.value} />}
      <div class="chat">
        <div class="talk" aria-live="polite">
          {exchanges.length === 0 && !talk.error.value && <p class="empty">{t('chat.empty')}</p>}
          {exchanges.map((exchange) => (
            <ExchangeView key={exchange.key} exchange={exchange} choice={choice} talk={talk} />
          ))}
        </div>
        {!talk.isConnected.value && (
          <p class="notice warn" role="status">
            {t('chat.reconnecting')}
          </p>
        )}
        <Composer
          talk={talk}
          choice={choice}
          onChoice={setChoice}
          onAsk={(query, images) => ask(talk, query, images, choice)}
        />
        <div ref={end} />
      </div>
    </div>
  );
}

/** The conversation of the session in the URL: the same one when the first question has given it its session. */
function useTalk(sessionId: string | undefined): Talk {
  const kept = useRef<Talk>(null);
  if (kept.current?.sessionId !== sessionId) kept.current = null;
  kept.current ??= new Talk(sessionId);
  return kept.current;
}

async function retry(runId: string, query: string): Promise<void> {
  const { run_id, session_id } = await askAgain(runId, query);
  go(session_id === null ? ['runs', run_id] : ['chat', session_id]);
}

/** Asks a question. The first one starts a session, whose id the URL then has, so that a reload shows the conversation. */
async function ask(talk: Talk, query: string, images: readonly string[], choice: Choice): Promise<boolean> {
  const runId = await talk.ask(query, images, choice);
  if (runId === undefined) return false;
  if (talk.sessionId === undefined) await showSession(talk, runId);
  return true;
}

async function showSession(talk: Talk, runId: string): Promise<void> {
  const { session_id } = await request<{ session_id: string | null }>(`runs/${runId}`);
  const { path } = route.value;
  if (session_id === null || path[0] !== 'chat' || path.length !== 1) return;
  talk.begin(session_id);
  go(['chat', session_id]);
}

function ExchangeView({
  exchange,
  choice,
  talk,
}: {
  readonly exchange: Exchange;
  readonly choice: Choice;
  readonly talk: Talk;
}) {
  const [edited, setEdited] = useState<string>();
  const { answer, query, images } = exchange;
  const body = bodyOf(query, images, choice, undefined);
  return (
    <article class="stack">
      <h2 class="hidden">{query.slice(0, 100)}</h2>
      <div class="question">
        {query}
        <Images urls={images} />
      </div>
      <AnswerView answer={answer} onDecided={() => void talk.resume(answer.runId!)}>
        {talk.running.value === null && answer.runId !== null && (
          <>
            {may('runs:write') && (
              <button type="button" class="plain small" onClick={() => setEdited(query)}>
                {t('chat.retry')}
              </button>
            )}
            <CopyButton text={asCurl(body)} label={t('chat.copyCurl')} />
            <CopyButton text={asTypeScript(body)} label={t('chat.copyTypeScript')} />
            {isRatable(answer.status) && <Rating runId={answer.runId} />}
          </>
        )}
      </AnswerView>
      {edited !== undefined && (
        <div class="stack">
          <textarea
            rows={3}
            aria-label={t('chat.message')}
            value={edited}
            onInput={({ currentTarget }) => setEdited(currentTarget.value)}
          />
          <div class="row">
            <ActionButton class="primary" action={() => retry(answer.runId!, edited)}>
              {t('chat.retryNew')}
            </ActionButton>
            <button type="button" onClick={() => setEdited(undefined)}>
              {t('cancel')}
            </button>
          </div>
        </div>
      )}
    </article>
  );
}

function asCurl(body: object): string {
  const url = new URL(apiUrl('agent/chat'), location.href).href;
  const key = hasLogin.value ? ' -H "authorization: Bearer $API_KEY"' : '';
  const text = JSON.stringify(body).replaceAll("'", String.raw`'\''`);
  return `curl -s '${url}' -H 'content-type: application/json'${key} -d '${text}'`;
}

function asTypeScript(body: object): string {
  const baseUrl = new URL('..', location.href).href;
  const options = `{ baseUrl: ${JSON.stringify(baseUrl)}${hasLogin.value ? ", apiKey: process.env['API_KEY']!" : ''} }`;
  return `import { JackdawClient } from 'jackdaw/client';

const jackdaw = new JackdawClient(${options});
const { result } = await jackdaw.chat(${JSON.stringify(body, null, 2)});
console.log(result);
`;
}

function SessionChoice({ current }: { readonly current: string | undefined }) {
  const { value } = useLoad<{ sessions: readonly Session[] }>('sessions', { limit: 20 });
  if (!value || value.sessions.length === 0) return null;
  return (
    <details class="call menu">
      <summary>{t('chat.sessions')}</summary>
      <ul class="nav">
        {value.sessions.map(({ id, updated_at }) => (
          <li key={id}>
            <a href={href(['chat', id])} aria-current={id === current ? 'page' : undefined}>
              <span class="mono">{id.slice(-12)}</span> <When at={updated_at} />
            </a>
          </li>
        ))}
      </ul>
    </details>
  );
}
