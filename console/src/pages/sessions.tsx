import { Fragment } from 'preact';
import { useState } from 'preact/hooks';
import { apiUrl, request } from '../api';
import { may } from '../caller';
import { Show, useLoad } from '../components/load';
import { Images } from '../components/images';
import { Markdown } from '../components/markdown';
import { ActionButton, Code, ConfirmButton, Facts, shortId, When } from '../components/parts';
import { PageList, Table, usePages } from '../components/table';
import { imagesOf, textOf } from '../conversation';
import { count } from '../format';
import { t, tValue } from '../i18n';
import { go, href } from '../router';
import type { Message, MessagePage, RunAnswer, RunPage, Session } from '../types';

/** `#/sessions` is the list, `#/sessions/<id>` a conversation. */
export function Page({ path: [id] }: { readonly path: readonly string[] }) {
  return id === undefined ? <SessionList /> : <SessionView id={id} />;
}

function SessionList() {
  const pages = usePages<Session>('sessions', 'sessions');
  return (
    <div class="page">
      <h1>{t('nav.sessions')}</h1>
      <PageList pages={pages} empty={t('sessions.none')}>
        {(items) => (
          <Table
            label={t('nav.sessions')}
            items={items}
            keyOf={({ id }) => id}
            columns={[
              {
                title: t('session'),
                cell: ({ id }) => (
                  <a class="mono" href={href(['sessions', id])}>
                    {shortId(id)}
                  </a>
                ),
                isNarrow: true,
              },
              { title: t('sessions.owner'), cell: ({ owner }) => owner },
              { title: t('sessions.turns'), cell: ({ turn_count }) => count(turn_count), isNumber: true },
              { title: t('sessions.messages'), cell: ({ message_count }) => count(message_count), isNumber: true },
              { title: t('sessions.marks'), cell: (session) => <Marks session={session} /> },
              { title: t('sessions.updated'), cell: ({ updated_at }) => <When at={updated_at} /> },
            ]}
          />
        )}
      </PageList>
    </div>
  );
}

function Marks({ session }: { readonly session: Session }) {
  return (
    <span class="row">
      {session.is_tainted && <span class="badge warn">{t('fact.untrusted')}</span>}
      {session.is_private && <span class="badge warn">{t('fact.private')}</span>}
    </span>
  );
}

function SessionView({ id }: { readonly id: string }) {
  const path = `sessions/${encodeURIComponent(id)}`;
  const session = useLoad<Session>(path);
  return (
    <div class="page">
      <div class="head">
        <h1>
          {t('session')} <span class="mono">{shortId(id)}</span>
        </h1>
        {session.value && (
          <div class="end row">
            {may('chat') && (
              <a class="button" href={href(['chat', id])}>
                {t('sessions.continue')}
              </a>
            )}
            <a class="button" href={apiUrl(`${path}/export`)} download={`${id}.json`}>
              {t('sessions.export')}
            </a>
            {may('sessions:write') && <DeleteButton path={path} />}
          </div>
        )}
      </div>
      <Show of={session}>
        {(value) => (
          <Facts
            items={[
              [t('sessions.owner'), value.owner],
              [t('sessions.turns'), count(value.turn_count)],
              [t('sessions.messages'), count(value.message_count)],
              [t('sessions.created'), <When at={value.created_at} />],
              [t('sessions.updated'), <When at={value.updated_at} />],
              [t('sessions.marks'), value.is_tainted || value.is_private ? <Marks session={value} /> : undefined],
              [
                t('sessions.parent'),
                value.parent_session_id && (
                  <a href={href(['sessions', value.parent_session_id])}>{shortId(value.parent_session_id)}</a>
                ),
              ],
            ]}
          />
        )}
      </Show>
      {session.value && <MemoryWindow id={id} />}
      {session.value && <Conversation path={path} />}
    </div>
  );
}

function DeleteButton({ path }: { readonly path: string }) {
  const erase = async () => {
    await request(path, {}, { method: 'DELETE' });
    go(['sessions']);
  };
  return (
    <ConfirmButton
      label={t('delete')}
      title={t('sessions.deleteTitle')}
      text={t('sessions.deleteText')}
      action={erase}
    />
  );
}

/** The part of the conversation that the last finished run received. */
function MemoryWindow({ id }: { readonly id: string }) {
  const { value: last } = useLoad<RunPage>('runs', {
    sessionId: id,
    status: 'completed,failed,cancelled',
    limit: 1,
  });
  const runId = last?.runs[0]?.run_id;
  const { value: answer } = useLoad<RunAnswer>(runId === undefined ? null : `runs/${runId}`);
  const state = answer?.memory_state;
  if (!state || runId === undefined) return null;
  return (
    <section class="card stack">
      <h2>{t('sessions.memory')}</h2>
      <Facts
        items={[
          [t('sessions.policy'), state.policy],
          [t('sessions.contextTokens'), count(state.context_tokens)],
          [t('sessions.messages'), count(state.message_count)],
          [t('sessions.dropped'), count(state.dropped)],
          [t('run'), <a href={href(['runs', runId])}>{shortId(runId)}</a>],
        ]}
      />
    </section>
  );
}

function Conversation({ path }: { readonly path: string }) {
  const [limit, setLimit] = useState(50);
  const loaded = useLoad<MessagePage>(`${path}/messages`, { limit });
  return (
    <section class="stack">
      <h2>{t('sessions.conversation')}</h2>
      <Show of={loaded}>
        {({ messages, next }) => (
          <>
            {messages.map((message, at) => (
              <Fragment key={at}>
                {messages[at - 1]?.turn !== message.turn && (
                  <TurnHead first={message} path={path} onPinned={loaded.reload} />
                )}
                <MessageView message={message} />
              </Fragment>
            ))}
            {next !== null && (
              <button type="button" onClick={() => setLimit(Math.min(limit * 2, 200))} disabled={limit >= 200}>
                {t('more')}
              </button>
            )}
          </>
        )}
      </Show>
    </section>
  );
}

/** The number of a turn, its run and its pin: memory of the policy `lru` drops pinned turns last. */
function TurnHead({
  first: { turn, turn_status, run_id, is_pinned },
  path,
  onPinned,
}: {
  readonly first: Message;
  readonly path: string;
  readonly onPinned: () => void;
}) {
  const pin = () => request(`${path}/turns/${turn}/pin`, {}, { method: is_pinned ? 'DELETE' : 'PUT' }).then(onPinned);
  return (
    <div class="row small muted">
      <span>{t('sessions.turn', { turn })}</span>
      <span>{tValue('status', turn_status)}</span>
      <a href={href(['runs', run_id])}>{t('chat.openRun')}</a>
      {is_pinned && <span class="badge busy">{t('sessions.pinned')}</span>}
      {may('sessions:write') && (
        <ActionButton class="plain" action={pin}>
          {t(is_pinned ? 'sessions.unpin' : 'sessions.pin')}
        </ActionButton>
      )}
    </div>
  );
}

function MessageView({ message }: { readonly message: Message }) {
  const { role, tool_calls = [], name } = message;
  const text = textOf(message);
  return (
    <div class="card stack">
      <span class="label">
        {tValue('role', role)} {name}
      </span>
      {text !== '' && (role === 'tool' ? <Code value={text} label={t('result')} /> : <Markdown text={text} />)}
      <Images urls={imagesOf(message)} />
      {tool_calls.map((call) => (
        <Code key={call.id} value={call.arguments} label={call.name} />
      ))}
    </div>
  );
}
