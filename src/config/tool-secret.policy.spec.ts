import { describe, expect, it } from 'vitest';
import { loadConfig } from './config.loader.js';

const load = (env: Record<string, string>) => () => loadConfig({ env });

describe('TOOL_SECRETS', () => {
  it('provides the values of the named variables only', () => {
    const env = { TOOL_SECRETS: 'CRM_TOKEN, CRM_TOKEN,github_token', CRM_TOKEN: 'crm-token', OTHER: 'other-secret' };
    const { config } = loadConfig({ env, envFile: 'github_token=gh-token-1' });
    expect(config.tool.secrets).toEqual({ CRM_TOKEN: 'crm-token', github_token: 'gh-token-1' });
  });

  it.each([
    [{ TOOL_SECRETS: 'CRM_TOKEN' }, 'TOOL_SECRETS: its value|"CRM_TOKEN" is not set'],
    [{ TOOL_SECRETS: 'CRM_TOKEN', CRM_TOKEN: 'canary' }, '"CRM_TOKEN" is shorter than 8 characters'],
    [
      { TOOL_SECRETS: 'OPENAI_API_KEY', OPENAI_API_KEY: 'sk-canary-canary' },
      '"OPENAI_API_KEY" is a variable of Jackdaw',
    ],
    [{ TOOL_SECRETS: 'CRM-TOKEN' }, 'give names of variables'],
  ])('refuses %j', (env, fault) => {
    expect(load(env)).toThrow(new RegExp(fault));
    expect(load(env)).not.toThrow(/canary/);
  });
});
