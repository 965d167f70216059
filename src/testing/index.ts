/** Scripted models, agents and applications for tests, and contract suites. Needs no test framework. */
export { cacheContract } from './cache-contract.js';
export type { ContractCase } from './contract.js';
export type { CrashPoint } from './crash-point.js';
export { expectCalls } from './expect-calls.js';
export { matchers } from './matchers.js';
export type { AgentMatchers } from './matchers.js';
export { memoryContract } from './memory-contract.js';
export { FakeProvider } from './provider/fake-provider.js';
export type { FakeReply, FakeRequest, FakeScript } from './provider/fake-provider.types.js';
export type {
  RequestMatcher,
  RequestPattern,
  ScriptedFault,
  ScriptedMessage,
  ScriptedReply,
  ScriptLine,
} from './script-line.js';
export { cassetteOfRuns } from './run-cassette.js';
export type { RunCassette, RunCassetteOptions } from './run-cassette.js';
export { ScriptedModel } from './scripted-model.js';
export type { ScriptedModelOptions } from './scripted-model.js';
export { stateStoreContract } from './state-store-contract.js';
export { createTestAgent } from './test-agent.js';
export type { Crashed, TestAgent, TestAgentOptions } from './test-agent.js';
export { callTool, startTestApplication } from './test-application.js';
export type { TestApplication, TestApplicationOptions } from './test-application.js';
export { sharedTurnArchiveContract, turnArchiveContract } from './turn-archive-contract.js';
