import { useEffect, useState } from 'preact/hooks';
import { post } from '../api';
import { may } from '../caller';
import { Graph } from '../components/graph';
import { Show, useLoad } from '../components/load';
import { ActionButton, Facts, shortId, Status } from '../components/parts';
import { SchemaForm } from '../components/schema-form';
import { Table } from '../components/table';
import { followRun } from '../events';
import { count } from '../format';
import { t } from '../i18n';
import { href, route, setQuery } from '../router';
import type { Workflow } from '../types';

/** `#/workflows` is the list, `#/workflows/<name>` a workflow; its query `run` is a run whose state the graph shows. */
export function Page({ path: [name] }: { readonly path: readonly string[] }) {
  return name === undefined ? <WorkflowList /> : <WorkflowView name={name} />;
}

function WorkflowList() {
  const loaded = useLoad<{ workflows: readonly Workflow[] }>('workflows');
  return (
    <div class="page">
      <h1>{t('nav.workflows')}</h1>
      <Show of={loaded}>
        {({ workflows }) =>
          workflows.length === 0 ? (
            <p class="empty">{t('workflows.none')}</p>
          ) : (
            <Table
              label={t('nav.workflows')}
              items={workflows}
              keyOf={({ name }) => name}
              columns={[
                { title: t('tools.name'), cell: ({ name }) => <a href={href(['workflows', name])}>{name}</a> },
                { title: t('tools.description'), cell: ({ description }) => description, isText: true },
                { title: t('workflows.nodes'), cell: ({ nodes }) => count(nodes.length), isNumber: true },
              ]}
            />
          )
        }
      </Show>
    </div>
  );
}

function WorkflowView({ name }: { readonly name: string }) {
  const loaded = useLoad<Workflow>(`workflows/${encodeURIComponent(name)}`);
  const runId = route.value.query['run'];
  const states = useNodeStates(runId);
  return (
    <div class="page">
      <Show of={loaded} title={name}>
        {(workflow) => (
          <>
            <div class="head">
              <h1>{workflow.name}</h1>
              <div class="end row">
                {may('runs:read') && (
                  <a class="button" href={href(['runs'], { agent: `workflow:${name}` })}>
                    {t('nav.runs')}
                  </a>
                )}
              </div>
            </div>
            {workflow.description !== '' && <p>{workflow.description}</p>}
            {runId !== undefined && (
              <Facts items={[[t('run'), <a href={href(['runs', runId])}>{shortId(runId)}</a>]]} />
            )}
            <Graph nodes={workflow.nodes} edges={workflow.edges} states={states} />
            <Table
              label={t('workflows.nodes')}
              items={workflow.nodes}
              keyOf={({ id }) => id}
              columns={[
                { title: t('workflows.node'), cell: ({ id }) => id },
                { title: t('kind'), cell: ({ type }) => type },
                { title: t('workflows.uses'), cell: ({ uses }) => uses ?? '' },
                { title: t('tools.description'), cell: ({ description }) => description ?? '', isText: true },
                {
                  title: t('status'),
                  cell: ({ id }) => {
                    const state = states.get(id);
                    return state === undefined ? '' : <Status value={state} />;
                  },
                },
              ]}
            />
            {may('chat') && <StartForm workflow={workflow} />}
          </>
        )}
      </Show>
    </div>
  );
}

/** The states of the nodes in a run, as its events report them. */
function useNodeStates(runId: string | undefined): ReadonlyMap<string, string> {
  const [states, setStates] = useState<ReadonlyMap<string, string>>(new Map());
  useEffect(() => {
    setStates(new Map());
    if (runId === undefined) return undefined;
    const controller = new AbortController();
    followRun(runId, {
      signal: controller.signal,
      onEvent: ({ type, node, status }) => {
        if (typeof node !== 'string') return;
        if (type === 'node.started') setStates((old) => new Map(old).set(node, 'running'));
        if (type === 'node.completed') setStates((old) => new Map(old).set(node, String(status)));
      },
    }).catch(() => undefined);
    return () => controller.abort();
  }, [runId]);
  return states;
}

function StartForm({ workflow }: { readonly workflow: Workflow }) {
  const [input, setInput] = useState<unknown>({});
  const start = async () => {
    const { run_id } = await post<{ run_id: string }>(`workflows/${encodeURIComponent(workflow.name)}/runs`, { input });
    setQuery({ run: run_id });
  };
  return (
    <section class="stack">
      <h2>{t('workflows.start')}</h2>
      <SchemaForm schema={workflow.input ?? {}} initial={{}} label={t('workflows.input')} onChange={setInput} />
      <div class="row">
        <ActionButton class="primary" disabled={input === undefined} action={start}>
          {t('workflows.start')}
        </ActionButton>
      </div>
    </section>
  );
}
