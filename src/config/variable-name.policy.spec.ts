import { describe, expect, it } from 'vitest';
import { loadConfig } from './config.loader.js';

describe('agentVariables', () => {
  it('excludes the secrets of Jackdaw and of tools', () => {
    const env = {
      AUDIENCE: 'engineers',
      PORT: '0',
      OPENAI_API_KEY: 'sk-1',
      DATABASE_URL: 'sqlite:./a.db',
      TOOL_SECRETS: 'CRM_TOKEN',
      CRM_TOKEN: 'crm-token',
    };
    const { variables } = loadConfig({ env, envFile: 'REGION=north' }).config.definitionFiles;
    expect(variables).toEqual({ AUDIENCE: 'engineers', PORT: '0', REGION: 'north', TOOL_SECRETS: 'CRM_TOKEN' });
  });
});
