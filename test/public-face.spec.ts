import { describe, expect, it } from '@jest/globals';
import * as jackdaw from '../src/index.js';

describe('the public face', () => {
  it('has these names and no others: adding one is a decision', () => {
    expect(Object.keys(jackdaw).toSorted()).toEqual([
      'Agent',
      'AgentDecisionService',
      'AgentRegistry',
      'AgentService',
      'AgentSessions',
      'ApiKeyAuthenticator',
      'AppError',
      'Authenticator',
      'ChatModel',
      'EmbeddingModel',
      'FactMemory',
      'HttpExceptionFilter',
      'JackdawModule',
      'Memory',
      'MemoryFactory',
      'MemoryPolicy',
      'MemoryPolicyRegistry',
      'ModelFactory',
      'ModelRegistry',
      'Parameter',
      'Processor',
      'PromptBuilder',
      'RunService',
      'SessionKeeper',
      'SessionService',
      'Tool',
      'ToolPolicy',
      'ToolPolicyRegistry',
      'ToolRegistry',
      'WireModelFactory',
      'bearerRoute',
      'createAgent',
      'serve',
      'suspend',
    ]);
  });
});
