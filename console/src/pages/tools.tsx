import { useState } from 'preact/hooks';
import { post } from '../api';
import { may } from '../caller';
import { Decisions } from '../components/decisions';
import { Show, useLoad } from '../components/load';
import { ActionButton, Code, Facts } from '../components/parts';
import { SchemaForm } from '../components/schema-form';
import { Table } from '../components/table';
import { duration } from '../format';
import { t } from '../i18n';
import { href } from '../router';
import type { RunAnswer, Tool } from '../types';

/** `#/tools` is the list, `#/tools/<name>` a tool. */
export function Page({ path: [name] }: { readonly path: readonly string[] }) {
  return name === undefined ? <ToolList /> : <ToolView name={name} />;
}

function ToolList() {
  const [text, setText] = useState('');
  const loaded = useLoad<{ tools: readonly Tool[] }>('tools');
  const isWanted = ({ name, description }: Tool) => `${name} ${description}`.toLowerCase().includes(text.toLowerCase());
  return (
    <div class="page">
      <div class="head">
        <h1>{t('nav.tools')}</h1>
        <input
          class="end"
          type="search"
          aria-label={t('tools.search')}
          placeholder={t('tools.search')}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </div>
      <Show of={loaded}>{({ tools }) => <ToolTable tools={tools.filter(isWanted)} />}</Show>
    </div>
  );
}

function ToolTable({ tools }: { readonly tools: readonly Tool[] }) {
  if (tools.length === 0) return <p class="empty">{t('tools.noMatch')}</p>;
  return (
    <Table
      label={t('nav.tools')}
      items={tools}
      keyOf={({ name }) => name}
      columns={[
        { title: t('tools.name'), cell: ({ name }) => <a href={href(['tools', name])}>{name}</a> },
        {
          title: t('tools.description'),
          cell: ({ description }) => <span class="brief">{description}</span>,
          isText: true,
        },
        { title: t('tools.effect'), cell: ({ effect }) => effect },
        { title: t('tools.source'), cell: ({ source }) => source },
        { title: t('status'), cell: ({ enabled }) => <Enabled value={enabled} /> },
      ]}
    />
  );
}

function Enabled({ value }: { readonly value: boolean }) {
  return <span class={`badge ${value ? 'good' : 'bad'}`}>{t(value ? 'tools.enabled' : 'tools.disabled')}</span>;
}

function ToolView({ name }: { readonly name: string }) {
  const path = `tools/${encodeURIComponent(name)}`;
  const loaded = useLoad<Tool>(path);
  return (
    <div class="page">
      <Show of={loaded} title={name}>
        {(tool) => (
          <>
            <div class="head">
              <h1>{tool.name}</h1>
              <Enabled value={tool.enabled} />
              {may('tools:write') && (
                <div class="end row">
                  <ActionButton
                    class={tool.enabled ? 'danger' : ''}
                    action={() => post(`${path}/${tool.enabled ? 'disable' : 'enable'}`).then(loaded.reload)}
                  >
                    {t(tool.enabled ? 'tools.disable' : 'tools.enable')}
                  </ActionButton>
                </div>
              )}
            </div>
            <p>{tool.description}</p>
            <Facts
              items={[
                [t('tools.effect'), tool.effect],
                [t('tools.source'), tool.source],
                [t('tools.approval'), tool.metadata.approval],
                [t('tools.retries'), tool.metadata.retries],
                [t('agents.timeout'), tool.metadata.timeout_ms && duration(tool.metadata.timeout_ms)],
                [t('fact.out'), tool.metadata.egress ? t('yes') : t('no')],
                [t('fact.untrusted'), tool.metadata.untrusted ? t('yes') : t('no')],
                [t('fact.private'), tool.metadata.private ? t('yes') : t('no')],
              ]}
            />
            <div class="columns">
              {may('tools:call') && <TryIt tool={tool} path={path} />}
              <Code value={tool.input_schema} label={t('tools.schema')} />
              {tool.output_schema && <Code value={tool.output_schema} label={t('tools.outputSchema')} />}
            </div>
          </>
        )}
      </Show>
    </div>
  );
}

/** Calls the tool without an agent, as a run of its own. */
function TryIt({ tool, path }: { readonly tool: Tool; readonly path: string }) {
  const [given, setGiven] = useState<unknown>({});
  const [answer, setAnswer] = useState<RunAnswer>();
  return (
    <section class="stack">
      <h2>{t('tools.try')}</h2>
      <SchemaForm schema={tool.input_schema} initial={{}} label={t('arguments')} onChange={setGiven} />
      <div class="row">
        <ActionButton
          class="primary"
          disabled={given === undefined}
          action={() => post<RunAnswer>(`${path}/call`, { arguments: given }).then(setAnswer)}
        >
          {t('tools.call')}
        </ActionButton>
      </div>
      {answer && (
        <>
          <a href={href(['runs', answer.run_id])}>{t('chat.openRun')}</a>
          {answer.waiting ? (
            <Decisions
              runId={answer.run_id}
              requests={answer.waiting}
              mayDecide={may('runs:write')}
              onDecided={() => setAnswer(undefined)}
            />
          ) : (
            <Code value={answer} label={t('result')} />
          )}
        </>
      )}
    </section>
  );
}
