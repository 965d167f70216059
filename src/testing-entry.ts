/** The entry `jackdaw/testing`: scripted models, agents and applications for tests, and contract suites. Needs no test framework. */
export { parseExportedRun, replayRun } from './run/replay/index.js';
export type { ExportedRun, ReplayCheck, ReplayCheckOptions } from './run/replay/index.js';
export { evaluate, loadEval, evaluateGuardrails, ObedientModel, toJunit, score } from './testing/eval/index.js';
export type {
  EvalOptions,
  EvalReport,
  EvalAnswer,
  EvalCall,
  EvalLine,
  ExpectedCall,
  Scorer,
  ScorerContext,
  EvalDefinition,
} from './testing/eval/index.js';
export {
  cacheContract,
  expectCalls,
  matchers,
  memoryContract,
  FakeProvider,
  cassetteOfRuns,
  ScriptedModel,
  stateStoreContract,
  createTestAgent,
  callTool,
  startTestApplication,
  sharedTurnArchiveContract,
  turnArchiveContract,
} from './testing/index.js';
export type {
  ContractCase,
  CrashPoint,
  AgentMatchers,
  FakeReply,
  FakeRequest,
  FakeScript,
  RequestMatcher,
  RequestPattern,
  ScriptedFault,
  ScriptedMessage,
  ScriptedReply,
  ScriptLine,
  RunCassette,
  RunCassetteOptions,
  ScriptedModelOptions,
  Crashed,
  TestAgent,
  TestAgentOptions,
  TestApplication,
  TestApplicationOptions,
} from './testing/index.js';
