import { post } from '../api';
import { may } from '../caller';
import { Show, useLoad } from '../components/load';
import { ActionButton, Code, Facts, ToolLinks, When } from '../components/parts';
import { Table } from '../components/table';
import { count } from '../format';
import { t } from '../i18n';
import { href } from '../router';
import type { McpQuarantine, McpServer } from '../types';

interface McpServerDetail extends McpServer {
  readonly error?: string;
  readonly protocol?: string;
  readonly quarantine: readonly McpQuarantine[];
  readonly refused: readonly unknown[];
}

const BADGES: Readonly<Record<string, string>> = { ready: 'good', failed: 'bad', connecting: 'busy' };

/** `#/mcp` lists the MCP servers, `#/mcp/<name>` is a server with its pending definitions. */
export function Page({ path: [name] }: { readonly path: readonly string[] }) {
  return name === undefined || !may('operate') ? <ServerList /> : <ServerView name={name} />;
}

function ServerStatus({ value }: { readonly value: string }) {
  return <span class={`badge ${BADGES[value] ?? ''}`}>{value}</span>;
}

function ServerList() {
  const loaded = useLoad<{ servers: readonly McpServer[] }>('mcp/servers');
  return (
    <div class="page">
      <h1>{t('nav.mcp')}</h1>
      <Show of={loaded}>
        {({ servers }) =>
          servers.length === 0 ? (
            <p class="empty">{t('mcp.none')}</p>
          ) : (
            <Table
              label={t('nav.mcp')}
              items={servers}
              keyOf={({ name }) => name}
              columns={[
                {
                  title: t('tools.name'),
                  cell: ({ name }) => (may('operate') ? <a href={href(['mcp', name])}>{name}</a> : name),
                },
                { title: t('status'), cell: ({ status }) => <ServerStatus value={status} /> },
                { title: t('mcp.transport'), cell: ({ transport }) => transport },
                { title: t('nav.tools'), cell: ({ tools }) => count(tools.length), isNumber: true },
                {
                  title: t('mcp.pending'),
                  cell: ({ quarantined }) =>
                    quarantined > 0 ? <span class="badge waiting">{quarantined}</span> : count(0),
                  isNumber: true,
                },
                { title: t('mcp.since'), cell: ({ since }) => <When at={since} /> },
              ]}
            />
          )
        }
      </Show>
    </div>
  );
}

function ServerView({ name }: { readonly name: string }) {
  const path = `mcp/servers/${encodeURIComponent(name)}`;
  const loaded = useLoad<McpServerDetail>(path);
  return (
    <div class="page">
      <Show of={loaded} title={name}>
        {(server) => (
          <>
            <div class="head">
              <h1>{server.name}</h1>
              <ServerStatus value={server.status} />
              <div class="end row">
                <ActionButton action={() => post(`${path}/reconnect`).then(loaded.reload)}>
                  {t('mcp.reconnect')}
                </ActionButton>
              </div>
            </div>
            {server.error !== undefined && <p class="notice bad">{server.error}</p>}
            <Facts
              items={[
                [t('mcp.transport'), server.transport],
                [t('mcp.protocol'), server.protocol],
                [t('tools.source'), server.source],
                [t('mcp.since'), <When at={server.since} />],
                [t('mcp.connects'), count(server.connects)],
                [t('mcp.pins'), server.pins],
              ]}
            />
            {server.quarantine.length > 0 && <h2>{t('mcp.pending')}</h2>}
            {server.quarantine.map((each) => (
              <Pending key={each.tool} pending={each} path={path} onAccepted={loaded.reload} />
            ))}
            {server.refused.length > 0 && <Code value={server.refused} label={t('mcp.refused')} />}
            <ToolLinks tools={server.tools} />
          </>
        )}
      </Show>
    </div>
  );
}

/** A definition that waits for acceptance, with its differences to the accepted one. */
function Pending({
  pending: { tool, reason, hidden, findings, differences, pending },
  path,
  onAccepted,
}: {
  readonly pending: McpQuarantine;
  readonly path: string;
  readonly onAccepted: () => void;
}) {
  return (
    <section class="card stack" aria-label={tool}>
      <div class="row">
        <h3>{tool}</h3>
        <span class="badge waiting">{reason}</span>
        {hidden && <span class="badge bad">{t('mcp.hidden')}</span>}
      </div>
      {findings.map(({ at, what }) => (
        <p key={at} class="notice warn">
          {at}: {what}
        </p>
      ))}
      {differences.map(({ at, before, after }) => (
        <div key={at} class="columns">
          <Code value={before ?? ''} label={t('mcp.before', { at })} />
          <Code value={after ?? ''} label={t('mcp.after', { at })} />
        </div>
      ))}
      {differences.length === 0 && <Code value={pending.definition} label={t('mcp.definition')} />}
      <div class="row">
        <ActionButton
          class="primary"
          action={() => post(`${path}/tools/accept`, { tool, digest: pending.digest }).then(onAccepted)}
        >
          {t('mcp.accept')}
        </ActionButton>
      </div>
    </section>
  );
}
