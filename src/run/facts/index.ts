/** Facts of data: untrusted or private content, merged and stored with runs. */
export {
  factsOfEnd,
  factsOfRun,
  isPrivate,
  isTainted,
  mergeFacts,
  storedFacts,
  toEndedFacts,
  UNKNOWN_FACTS,
} from './data-facts.js';
export type { DataFact, WaitFact } from './data-facts.js';
