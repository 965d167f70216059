import { may } from '../caller';
import { Show, useLoad } from '../components/load';
import { Code, Facts, ToolLinks } from '../components/parts';
import { count, duration } from '../format';
import { t } from '../i18n';
import { href } from '../router';
import type { Agent } from '../types';

/** The agents: model, tools, memory, limits. */
export function Page() {
  const loaded = useLoad<{ agents: readonly Agent[] }>('agents');
  return (
    <div class="page">
      <h1>{t('nav.agents')}</h1>
      <Show of={loaded}>
        {({ agents }) => (
          <div class="columns">
            {agents.map((agent) => (
              <AgentCard key={agent.name} agent={agent} />
            ))}
          </div>
        )}
      </Show>
    </div>
  );
}

function AgentCard({ agent }: { readonly agent: Agent }) {
  const { name, description, is_default, model, protocol, tools, sub_agents, handoffs, mcp_servers, skills } = agent;
  return (
    <section class="card stack" aria-label={name}>
      <div class="head">
        <h2>{name}</h2>
        {is_default && <span class="badge">{t('agents.default')}</span>}
        <div class="end row">
          {may('chat') && (
            <a class="button" href={href(['chat'], is_default ? {} : { agent: name })}>
              {t('nav.chat')}
            </a>
          )}
          {may('runs:read') && (
            <a class="button" href={href(['runs'], { agent: name })}>
              {t('nav.runs')}
            </a>
          )}
        </div>
      </div>
      {description !== '' && <p class="brief">{description}</p>}
      <Facts
        items={[
          [t('model'), `${model.provider}: ${model.name}`],
          [t('agents.protocol'), protocol],
          [t('agents.memory'), agent.memory.enabled ? agent.memory.policy : t('agents.off')],
          [t('agents.iterations'), count(agent.limits.max_iterations)],
          [t('agents.timeout'), duration(agent.limits.run_timeout_ms)],
          [t('agents.subAgents'), sub_agents.join(', ')],
          [t('agents.handoffs'), handoffs.join(', ')],
          [t('nav.mcp'), mcp_servers.map((server) => server.name).join(', ')],
          [t('agents.skills'), skills.join(', ')],
          [t('agents.approvals'), agent.approvals.join(', ')],
        ]}
      />
      <ToolLinks tools={tools} />
      <details>
        <summary>{t('details')}</summary>
        <Code value={agent} label={name} />
      </details>
    </section>
  );
}
